#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
"""One NETLINK_RDMA request by hand, and the sentence that came with the answer.

    nldev.py newlink NAME TYPE NETDEV
    nldev.py dellink INDEX
    nldev.py rename INDEX NAME
    nldev.py raw COMMAND [ATTRIBUTE=NUMBER|ATTRIBUTE=TEXT]...

Prints "ok", or "ERRNO: SENTENCE", and exits with 1 for the latter. It asks for
extended acknowledgements itself, which not each release of iproute2 does.
"""
import errno
import socket
import struct
import sys

NETLINK_RDMA, SOL_NETLINK = 20, 270
NETLINK_CAP_ACK, NETLINK_EXT_ACK = 10, 11
NLM_F_REQUEST, NLM_F_ACK = 1, 4
NLM_F_CAPPED, NLM_F_ACK_TLVS = 0x100, 0x200
NLMSG_ERROR, NLMSGERR_ATTR_MSG = 2, 1
CLIENT_NLDEV = 5
CMD = {'get': 1, 'set': 2, 'newlink': 3, 'dellink': 4, 'port_get': 5,
       'sys_get': 6, 'res_get': 9, 'get_chardev': 15}
DEV_INDEX, DEV_NAME, PORT_INDEX, NDEV_NAME, LINK_TYPE = 1, 2, 3, 51, 65


def attribute(kind, value):
    data = struct.pack('=I', value) if isinstance(value, int) else value.encode() + b'\0'
    head = struct.pack('=HH', 4 + len(data), kind)
    return head + data + b'\0' * (-len(data) % 4)


def sentence(payload):
    at = 0
    while at + 4 <= len(payload):
        size, kind = struct.unpack_from('=HH', payload, at)
        if size < 4:
            break
        if kind == NLMSGERR_ATTR_MSG:
            return payload[at + 4:at + size].rstrip(b'\0').decode()
        at += (size + 3) & ~3
    return ''


def ask(command, attributes):
    link = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_RDMA)
    link.settimeout(20)
    for option in (NETLINK_CAP_ACK, NETLINK_EXT_ACK):
        link.setsockopt(SOL_NETLINK, option, 1)
    body = b''.join(attribute(*pair) for pair in attributes)
    link.send(struct.pack('=IHHII', 16 + len(body), CLIENT_NLDEV << 10 | command,
                          NLM_F_REQUEST | NLM_F_ACK, 1, 0) + body)
    while True:
        answer = link.recv(65536)
        size, kind, flags, _, _ = struct.unpack_from('=IHHII', answer)
        if kind != NLMSG_ERROR:
            continue
        code, = struct.unpack_from('=i', answer, 16)
        tail = 36 if flags & NLM_F_CAPPED else 20 + len(body) + 16
        text = sentence(answer[tail:size]) if flags & NLM_F_ACK_TLVS else ''
        return -code, text


def main(argv):
    verb, args = argv[0], argv[1:]
    if verb == 'newlink':
        result = ask(CMD[verb], [(DEV_NAME, args[0]), (LINK_TYPE, args[1]), (NDEV_NAME, args[2])])
    elif verb == 'dellink':
        result = ask(CMD[verb], [(DEV_INDEX, int(args[0]))])
    elif verb == 'rename':
        result = ask(CMD['set'], [(DEV_INDEX, int(args[0])), (DEV_NAME, args[1])])
    else:
        pairs = [text.split('=', 1) for text in args[1:]]
        result = ask(int(args[0]), [(int(kind), int(value) if value.isdigit() else value)
                                    for kind, value in pairs])
    code, text = result
    if not code:
        print('ok')
        return 0
    print(f'{errno.errorcode.get(code, code)}: {text}')
    return 1


sys.exit(main(sys.argv[1:]))
