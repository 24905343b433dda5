#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
"""One NETLINK_RDMA request by hand, and the sentence that came with the answer.

    nldev.py newlink NAME TYPE NETDEV [FLAGS]
    nldev.py dellink INDEX
    nldev.py rename INDEX NAME
    nldev.py raw COMMAND [ATTRIBUTE=NUMBER|ATTRIBUTE=TEXT]...
    nldev.py bind INDEX PORT QPN [COUNTER]
    nldev.py unbind INDEX PORT QPN COUNTER
    nldev.py auto INDEX PORT MASK
    nldev.py optional INDEX PORT [NUMBER]...

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
       'sys_get': 6, 'res_get': 9, 'get_chardev': 15, 'stat_set': 16,
       'stat_del': 18}
DEV_INDEX, DEV_NAME, PORT_INDEX, NDEV_NAME, LINK_TYPE = 1, 2, 3, 51, 65
RES_QP, RES_LQPN = 19, 21
STAT_MODE, STAT_RES, STAT_AUTO_MASK, STAT_COUNTER_ID = 74, 75, 76, 79
STAT_HWCOUNTERS, STAT_HWCOUNTER_INDEX, NLA_F_NESTED = 80, 94, 0x8000
MODE_AUTO, MODE_MANUAL = 1, 2


def attribute(kind, value):
    if isinstance(value, int):
        data = struct.pack('=I', value)
    elif isinstance(value, list):
        data = b''.join(attribute(*pair) for pair in value)
    else:
        data = value.encode() + b'\0'
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


def ask(command, attributes, flags=0):
    link = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_RDMA)
    link.settimeout(20)
    for option in (NETLINK_CAP_ACK, NETLINK_EXT_ACK):
        link.setsockopt(SOL_NETLINK, option, 1)
    body = b''.join(attribute(*pair) for pair in attributes)
    link.send(struct.pack('=IHHII', 16 + len(body), CLIENT_NLDEV << 10 | command,
                          NLM_F_REQUEST | NLM_F_ACK | flags, 1, 0) + body)
    while True:
        answer = link.recv(65536)
        size, kind, flags, _, _ = struct.unpack_from('=IHHII', answer)
        if kind != NLMSG_ERROR:
            continue
        code, = struct.unpack_from('=i', answer, 16)
        tail = 36 if flags & NLM_F_CAPPED else 20 + len(body) + 16
        text = sentence(answer[tail:size]) if flags & NLM_F_ACK_TLVS else ''
        return -code, text


def counters(verb, args):
    """A change of what queue pairs count for themselves."""
    index, port, *rest = [int(text) for text in args]
    about = [(DEV_INDEX, index), (PORT_INDEX, port)]
    if verb == 'optional':
        names = [(STAT_HWCOUNTER_INDEX, number) for number in rest]
        return ask(CMD['stat_set'], about + [(STAT_HWCOUNTERS | NLA_F_NESTED, names)])
    about.append((STAT_RES, RES_QP))
    if verb == 'auto':
        about += [(STAT_MODE, MODE_AUTO), (STAT_AUTO_MASK, rest[0])]
    else:
        about += list(zip((RES_LQPN, STAT_COUNTER_ID), rest))
    if verb == 'bind':
        about.append((STAT_MODE, MODE_MANUAL))
    return ask(CMD['stat_del' if verb == 'unbind' else 'stat_set'], about)


def main(argv):
    verb, args = argv[0], argv[1:]
    if verb == 'newlink':
        flags = int(args[3], 0) if len(args) > 3 else 0
        result = ask(CMD[verb], [(DEV_NAME, args[0]), (LINK_TYPE, args[1]), (NDEV_NAME, args[2])],
                     flags)
    elif verb == 'dellink':
        result = ask(CMD[verb], [(DEV_INDEX, int(args[0]))])
    elif verb == 'rename':
        result = ask(CMD['set'], [(DEV_INDEX, int(args[0])), (DEV_NAME, args[1])])
    elif verb in ('bind', 'unbind', 'auto', 'optional'):
        result = counters(verb, args)
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
