#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
"""What a capture of RoCEv2 traffic between two machines says about it.

    wire.py [--ours ADDRESS]... [--sizes 1-67] [--scapy N] CAPTURE.pcap
    wire.py --self-test [--ours ADDRESS]... CAPTURE.pcap
    wire.py --cut COPY.pcap CAPTURE.pcap

Each packet to UDP port 4791 is decoded with roce.py, its ICRC computed, and
held against the rules of the specification: lengths against the path MTU, pad,
order of FIRST, MIDDLE and LAST, PSNs that go on without a gap but for what is
sent again. What only
concerns the sender (reserved bits, MigReq, AckReq) is demanded of the addresses
given with --ours. A TCP connection that begins between the two is a program
that starts: queue pair numbers mean something new from there on.

--sizes: payloads of all these sizes have to be there, in both directions.
--scapy: compare that many IPv4 ICRCs with those of scapy's RoCE layer too.
--self-test: changes a packet of a copy in many ways; each has to be noticed.
--cut: writes a copy in which one packet ends within its RETH.

Prints ok and not ok lines. Exit status 1 when one is not ok.
"""
import argparse
import collections
import ipaddress
import os
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import roce  # noqa: E402
from roce import psn_add, psn_diff  # noqa: E402

SHOWN = 12          # faults that are shown of each kind
ETHERNET, SLL_TYPES = 14, (0x0800, 0x86dd)


def read_pcap(path):
    """[(stamp, frame)] of a classic pcap file with Ethernet frames."""
    with open(path, 'rb') as file:
        data = file.read()
    magic = data[:4]
    order = {b'\xd4\xc3\xb2\xa1': '<', b'\xa1\xb2\xc3\xd4': '>'}.get(magic)
    if order is None:
        sys.exit(f'{path} is no pcap file')
    if struct.unpack_from(order + 'I', data, 20)[0] & 0xffff != 1:
        sys.exit(f'{path} has no Ethernet frames')
    frames, at = [], 24
    while at + 16 <= len(data):
        sec, usec, kept, length = struct.unpack_from(order + '4I', data, at)
        at += 16
        if at + kept > len(data):
            break       # the machine was stopped while it wrote
        if kept == length:
            frames.append((sec + usec / 1e6, data[at:at + kept]))
        at += kept
    return frames


def ip_of(frame):
    """The IP packet of a frame, or None."""
    if len(frame) > ETHERNET + 20 and struct.unpack_from('>H', frame, 12)[0] in SLL_TYPES:
        return frame[ETHERNET:]
    return None


def upper_of(ip):
    """(protocol, what it carries)"""
    if ip[0] >> 4 == 4:
        return ip[9], ip[(ip[0] & 15) * 4:]
    return ip[6], ip[40:]


class Stream:
    """Packets of one direction for one queue pair: requests or responses."""

    def __init__(self):
        self.next = None        # PSN that comes if nothing is sent again
        self.high = None        # the first one that has never been sent
        self.open = None        # kind of message that has begun
        self.mtu = None
        self.repeated = 0


class Checker:
    def __init__(self, ours):
        self.ours = ours
        self.faults = collections.Counter()
        self.shown = []
        self.counts = collections.Counter()
        self.sizes = collections.defaultdict(set)       # side: of ONLY packets
        self.pads = collections.defaultdict(set)        # (side, name): pads
        self.icrcs = []                                 # (ip, computed), for scapy
        self.packets = self.programs = self.repeated = 0
        self.ports = {}
        self.streams = {}
        self.services = set()                           # of our packets

    def fault(self, number, kind, text):
        self.faults[kind] += 1
        if self.faults[kind] <= SHOWN:
            self.shown.append(f'frame {number}: {kind}: {text}')

    def side(self, p):
        return 'ours' if p.src in self.ours else 'theirs'

    def frame(self, number, frame):
        ip = ip_of(frame)
        if not ip:
            return
        proto, upper = upper_of(ip)
        if proto == 6 and len(upper) > 13 and upper[13] & 0x12 == 0x02:
            self.programs += 1
            self.ports.clear()
            self.streams.clear()
        if proto != 17 or len(upper) < 8 or struct.unpack_from('>H', upper, 2)[0] != roce.PORT:
            return
        self.packets += 1
        try:
            p = roce.parse(ip)
        except roce.Bad as why:
            self.fault(number, 'malformed', why)
            return
        service = {roce.RC: 'RC', roce.UC: 'UC', roce.UD: 'UD'}[p.service]
        self.counts[self.side(p), f'{service} {p.name}'] += 1
        if p.icrc != p.computed:
            self.fault(number, 'ICRC', f'{p}: {p.icrc:#010x}, computed {p.computed:#010x}')
        if ip[0] >> 4 == 4:
            self.icrcs.append((ip, p.computed))
        self.form(number, p)
        if self.side(p) == 'ours':
            self.services.add(p.service)
            self.manners(number, p)
        self.order(number, p)

    def form(self, number, p):
        """What each packet has to be like by itself."""
        if p.tver:
            self.fault(number, 'header version', p)
        if p.pad != -len(p.payload) & 3:
            self.fault(number, 'pad', f'{p}: pad {p.pad}')
        if p.name in roce.NO_PAYLOAD and p.payload:
            self.fault(number, 'payload', p)
        if p.pkey & 0x7fff != 0x7fff:
            self.fault(number, 'P_Key', f'{p}: {p.pkey:#x}')
        self.pads[self.side(p), p.name].add(p.pad)
        if 'ONLY' in p.name:
            self.sizes[self.side(p)].add((p.name.split('_ONLY')[0], len(p.payload)))

    def manners(self, number, p):
        """What is demanded of our side only."""
        if not p.migreq:
            self.fault(number, 'MigReq', f'{p}: 0 sent')
        if p.resv8a or p.resv7:
            self.fault(number, 'reserved', f'{p}: resv8a {p.resv8a:#x} resv7 {p.resv7:#x}')
        if any(p.pad_bytes):
            self.fault(number, 'pad bytes', f'{p}: {p.pad_bytes.hex()}')
        if p.ackreq and (roce.is_response(p.name) or p.service != roce.RC):
            self.fault(number, 'AckReq', f'{p}: where no answer is due')
        if p.solicited and (roce.is_response(p.name) or 'FIRST' in p.name or 'MIDDLE' in p.name):
            self.fault(number, 'solicited', p)
        if not 0xc000 <= p.sport:
            self.fault(number, 'source port', f'{p}: {p.sport}')
        if self.ports.setdefault(p.qpn, p.sport) != p.sport:
            self.fault(number, 'source port', f'{p}: {p.sport} after {self.ports[p.qpn]}')

    def order(self, number, p):
        """Lengths against the MTU, and each packet's place after the one before."""
        # A datagram's number is one of all that its sender sends to anybody.
        if 'ACKNOWLEDGE' in p.name or p.service == roce.UD:
            return
        key = (p.src, p.qpn, roce.is_response(p.name))
        s = self.streams.setdefault(key, Stream())
        kind = p.name.split('_')[0]
        self.lengths(number, p, s)
        if s.next is not None and p.psn != s.next:
            # Answers begin where a request does, which may be after an ACK's PSN.
            begins = roce.is_response(p.name) and ('FIRST' in p.name or 'ONLY' in p.name)
            if psn_diff(p.psn, s.high) > 0:
                if not begins:
                    self.fault(number, 'PSN', f'{p}: {s.high:#x} has not been sent')
            else:
                # Sent again from anywhere; what an ACK has reached meanwhile is left out.
                self.repeated += 1
                s.open = kind if 'MIDDLE' in p.name or 'LAST' in p.name else None
        place = [part for part in ('FIRST', 'MIDDLE', 'LAST') if part in p.name]
        if place and place != ['FIRST']:
            if s.open != kind and s.next is not None:
                self.fault(number, 'order', f'{p}: after {s.open}')
        elif s.open:
            self.fault(number, 'order', f'{p}: within a {s.open}')
        s.open = kind if place in (['FIRST'], ['MIDDLE']) else None
        packets = 1
        if p.name == 'READ_REQUEST':
            # How many PSNs it takes depends on the MTU; a guess serves until it is known.
            mtu = s.mtu or self.mtu_of_answers(p)
            packets = max(-(-p.dmalen // mtu), 1) if mtu else None
        s.next = psn_add(p.psn, packets) if packets else None
        if s.high is None or s.next is None or psn_diff(s.next, s.high) > 0:
            s.high = s.next

    def mtu_of_answers(self, p):
        """Both directions of a connection have one MTU, and so has a program."""
        known = {s.mtu for s in self.streams.values() if s.mtu}
        return known.pop() if len(known) == 1 else None

    def lengths(self, number, p, s):
        size = len(p.payload)
        if 'FIRST' in p.name or 'MIDDLE' in p.name:
            if s.mtu is None:
                if size not in (256, 512, 1024, 2048, 4096):
                    self.fault(number, 'length', f'{p}: no MTU')
                    return
                s.mtu = size
            if size != s.mtu:
                self.fault(number, 'length', f'{p}: the MTU is {s.mtu}')
        elif 'LAST' in p.name:
            if not size or (s.mtu and size > s.mtu):
                self.fault(number, 'length', f'{p}: the MTU is {s.mtu}')
        elif s.mtu and size > s.mtu:
            self.fault(number, 'length', f'{p}: the MTU is {s.mtu}')
        if p.name == 'WRITE_ONLY' and p.dmalen != size:
            self.fault(number, 'length', f'{p}: not what the RETH says')


def check(frames, ours):
    checker = Checker(ours)
    for number, (_, frame) in enumerate(frames, 1):
        checker.frame(number, frame)
    return checker


class Report:
    def __init__(self):
        self.tests = self.failed = 0

    def __call__(self, good, text):
        self.tests += 1
        self.failed += not good
        print(f'{"" if good else "not "}ok {self.tests} - {text}', flush=True)
        return good


def compare_with_scapy(report, checker, limit):
    try:
        from scapy.contrib import roce as other
        from scapy.layers.inet import IP
    except ImportError:
        print('ok - scapy computes the same ICRCs # SKIP no scapy')
        return
    if not checker.icrcs or not limit:
        return
    step = max(len(checker.icrcs) // limit, 1)
    wrong = done = 0
    for ip, computed in checker.icrcs[::step]:
        total = struct.unpack_from('>H', ip, 2)[0]
        bth = IP(ip[:total])[other.BTH]
        done += 1
        wrong += bth.compute_icrc(b'') != computed.to_bytes(4, 'little')
    report(not wrong, f'B01 scapy computes the same ICRC for {done} packets over IPv4'
           + (f': not for {wrong}' if wrong else ''))


def report_all(args, frames):
    report = Report()
    c = check(frames, args.ours)
    for (side, name), count in sorted(c.counts.items()):
        print(f'#   {side:6} {name:22} {count}')
    print(f'# {c.packets} RoCE packets of {c.programs} connections, {c.repeated} sent again')
    for line in c.shown:
        print(f'#   {line}')
    sides = {side for side, _ in c.counts}
    report(c.packets > 0 and sides == {'ours', 'theirs'}, 'both sides sent something')
    report(c.services >= {roce.RC, roce.UC, roce.UD}, 'B13 we sent packets of RC, UC and UD')
    for kind, what in (
            ('malformed', 'every packet can be decoded'),
            ('ICRC', f'B01 the ICRC of all {c.packets} packets is what the specification says'),
            ('pad', 'B01 pads are as long as needed'),
            ('pad bytes', 'our pads are zeros'),
            ('MigReq', 'B12 we send MigReq 1'),
            ('reserved', 'B11 we send reserved bits as 0'),
            ('AckReq', 'B13 we ask for no acknowledge of a response, nor of UC and UD'),
            ('solicited', 'we solicit events with the last packet of a message only'),
            ('source port', 'our UDP source port is a dynamic one and stays'),
            ('header version', 'the header version is 0'),
            ('P_Key', 'the P_Key is the default one'),
            ('payload', 'no payload where none belongs'),
            ('length', 'FIRST and MIDDLE fill the MTU, LAST and ONLY fit into it'),
            ('order', 'FIRST, MIDDLE and LAST come in order'),
            ('PSN', 'PSNs go on without a gap')):
        count = c.faults[kind]
        report(not count, what + (f': {count} times not' if count else ''))
    if args.sizes:
        first, last = map(int, args.sizes.split('-'))
        for side in ('ours', 'theirs'):
            for kind in ('SEND', 'WRITE', 'READ_RESPONSE'):
                missing = [n for n in range(first, last + 1) if (kind, n) not in c.sizes[side]]
                report(not missing, f'B01 {kind} of each size from {first} to {last}, {side}'
                       + (f': not {missing}' if missing else ''))
    compare_with_scapy(report, c, args.scapy)
    return report


# ------------------------------------------------------------------ self-test

def changed(ip, change, mend):
    """The IP packet with a change, and with an ICRC that fits when mend is set."""
    data = bytearray(ip)
    change(data, 28 if data[0] >> 4 == 4 else 48)
    if mend:
        data[-4:] = roce.icrc(bytes(data)).to_bytes(4, 'little')
    return bytes(data)


def flip(offset, bit):
    def change(data, bth):
        at = bth + offset if offset >= 0 else len(data) + offset
        data[at] ^= bit
    return change


# (what is done, to which packets, how, and whether the ICRC is mended,
#  the fault that has to be found)
MUTATIONS = (
    ('a bit of the payload', 'WRITE_ONLY', flip(12 + 16, 1), False, 'ICRC'),
    ('the last bit of the ICRC', 'SEND_ONLY', flip(-1, 0x80), False, 'ICRC'),
    ('a bit of the PSN', 'ACKNOWLEDGE', flip(11, 1), False, 'ICRC'),
    ('a bit of the queue pair number', 'READ_REQUEST', flip(7, 1), False, 'ICRC'),
    ('MigReq, the ICRC made good', 'WRITE_ONLY', flip(1, 0x40), True, 'MigReq'),
    ('BTH resv6a, which the ICRC leaves out', 'WRITE_ONLY', flip(4, 0x01), False, 'reserved'),
    ('BTH resv7, the ICRC made good', 'SEND_ONLY', flip(8, 0x10), True, 'reserved'),
    ('AckReq of an ACK, the ICRC made good', 'ACKNOWLEDGE', flip(8, 0x80), True, 'AckReq'),
    ('the PSN far on, the ICRC made good', 'SEND_ONLY', flip(9, 0x20), True, 'PSN'),
    ('the header version, the ICRC made good', 'SEND_ONLY', flip(1, 0x01), True,
     'header version'),
    ('the pad count, the ICRC made good', 'WRITE_FIRST', flip(1, 0x10), True, 'length'),
    ('LAST to FIRST, the ICRC made good', 'SEND_LAST', flip(0, 0x02), True, 'order'),
    ('the opcode to one that is none', 'WRITE_ONLY', flip(0, 0x15 ^ 0x0a), True, 'malformed'),
    ('the P_Key, the ICRC made good', 'SEND_ONLY', flip(2, 0x40), True, 'P_Key'),
)


def self_test(args, frames):
    report = Report()
    # Where packets of ours of each kind are; one in the midst of the capture serves.
    places = collections.defaultdict(list)
    for index, (_, frame) in enumerate(frames):
        ip = ip_of(frame)
        if ip is None or upper_of(ip)[0] != 17:
            continue
        try:
            p = roce.parse(ip)
        except roce.Bad:
            continue
        if p.src in args.ours and p.service == roce.RC and \
                (p.payload or p.name in roce.NO_PAYLOAD):
            places[p.name].append(index)
    for what, name, change, mend, kind in MUTATIONS:
        if not report(bool(places[name]), f'self-test: there is a {name} to change'):
            continue
        index = places[name][len(places[name]) // 2]
        stamp, frame = frames[index]
        ip = ip_of(frame)
        total = struct.unpack_from('>H', ip, 2)[0] if ip[0] >> 4 == 4 else \
            struct.unpack_from('>H', ip, 4)[0] + 40
        part = frames[max(index - 500, 0):index + 500]
        before = check(part, args.ours).faults
        part[min(index, 500)] = (stamp, frame[:ETHERNET] + changed(ip[:total], change, mend))
        after = check(part, args.ours).faults
        report(after[kind] > before[kind], f'self-test: notices {what} ({name})')
    return report


def cut(frames, path):
    """A short copy whose last packet has lost the end of its RETH."""
    with open(path, 'wb') as file:
        file.write(struct.pack('<IHHiIII', 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
        for _, frame in frames:
            ip = ip_of(frame)
            last = False
            if ip and upper_of(ip)[0] == 17:
                try:
                    last = roce.parse(ip).va is not None
                except roce.Bad:
                    pass
            if last:
                head = 20 if ip[0] >> 4 == 4 else 40
                size = head + 8 + 12 + 8
                short = bytearray(ip[:size])
                struct.pack_into('>H', short, *((2, size) if head == 20 else (4, size - 40)))
                struct.pack_into('>H', short, head + 4, size - head)
                frame = frame[:ETHERNET] + bytes(short)
            file.write(struct.pack('<4I', 0, 0, len(frame), len(frame)) + frame)
            if last:
                return
    sys.exit('there is no packet with a RETH')


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('--ours', action='append', default=[], type=ipaddress.ip_address)
    parser.add_argument('--sizes')
    parser.add_argument('--scapy', type=int, default=0)
    parser.add_argument('--self-test', action='store_true')
    parser.add_argument('--cut')
    parser.add_argument('capture')
    args = parser.parse_args()
    frames = read_pcap(args.capture)
    if args.cut:
        cut(frames, args.cut)
        return
    report = self_test(args, frames) if args.self_test else report_all(args, frames)
    sys.exit(bool(report.failed))


main()
