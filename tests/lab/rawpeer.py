#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
"""A RoCEv2 peer without any RDMA device, and what it asks of one that has it.

    rawpeer.py --net IFACE --mac MAC --address A --peer A [--only NAME]
               -- ENDPOINT...

ENDPOINT is the command that starts tests/verbs/endpoint on the device under
test. This program runs in the namespace at the other end of a veth pair; it
makes its packets by hand with roce.py, damages or withholds some on purpose,
and judges what comes back. So it can do what no proper peer does.

Prints ok and not ok lines. Exit status 1 when one is not ok.
"""
import argparse
import glob
import ipaddress
import os
import socket
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import roce  # noqa: E402
from roce import Packet, psn_add, psn_diff  # noqa: E402

WAIT = 20           # seconds for an answer: no answer is a fault, not slowness
QUIET = 0.3         # seconds in which nothing more is to come
MTU = 1024
SO_TIMESTAMPNS, SO_RCVBUFFORCE = 35, 33
PACKET_OUTGOING = 4
LOCAL_WRITE, REMOTE_WRITE, REMOTE_READ = 1, 2, 4
ALL = LOCAL_WRITE | REMOTE_WRITE | REMOTE_READ
SUCCESS, FLUSHED = 0, 5
STATE_RTS, STATE_ERR = 3, 6
MY_QPN = 0x00abcd


class Fault(Exception):
    """The thing under test did what it should not."""


def demand(good, what):
    if not good:
        raise Fault(what)


def pattern(key, length):
    return bytes((key * 37 + i * 11 + (i >> 8)) & 0xff for i in range(length))


class Endpoint:
    """The program with the queue pair."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, text=True,
                                        stdout=subprocess.PIPE)
        _, address, self.size, self.lkey, self.rkey, self.gid = self.ask('hello')
        self.address, self.rkey = int(address), int(self.rkey)

    def ask(self, *words):
        self.process.stdin.write(' '.join(map(str, words)) + '\n')
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line or line.startswith('not ok'):
            sys.exit(f'not ok - the endpoint: {line or "it ended"}')
        return line.split()

    def do(self, *words):
        answer = self.ask(*words)
        demand(answer[0] == 'ok', f'{" ".join(map(str, words))}: {" ".join(answer)}')

    def put(self, offset, data):
        for at in range(0, len(data), 2048):
            self.do('set', offset + at, data[at:at + 2048].hex())

    def get(self, offset, length):
        if not length:
            return b''
        return bytes.fromhex(self.ask('get', offset, length)[1])

    def completion(self, seconds=WAIT):
        answer = self.ask('poll', int(seconds * 1000))
        return None if answer[0] == 'none' else tuple(map(int, answer[1:]))

    def completed(self, wr_id, status=SUCCESS, length=None):
        wc = self.completion()
        demand(wc and wc[:2] == (wr_id, status),
               f'completion {wc}, wanted wr_id {wr_id} with status {status}')
        demand(length is None or wc[3] == length, f'{wc[3] if wc else 0} bytes, not {length}')

    def no_completion(self):
        wc = self.completion(QUIET)
        demand(not wc, f'completion {wc}')

    def state(self):
        return int(self.ask('state')[1])

    def close(self):
        self.process.stdin.close()
        return self.process.wait(30)


class Wire:
    """Frames of an interface, in and out, past the network stack."""

    def __init__(self, args):
        self.me, self.peer = args.address, args.peer
        own = open(f'/sys/class/net/{args.net}/address').read().strip()
        kind = 0x0800 if self.me.version == 4 else 0x86dd
        self.head = bytes.fromhex((args.mac + own).replace(':', '')) + kind.to_bytes(2, 'big')
        self.out = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        self.out.bind((args.net, 0))
        # Sees what this side sends too: its time stamp is from the same clock.
        self.sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        self.sock.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 16 << 20)
        self.sock.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        self.sock.bind((args.net, 3))
        # Otherwise the stack would answer that nobody listens there.
        family = socket.AF_INET if self.me.version == 4 else socket.AF_INET6
        self.port = socket.socket(family, socket.SOCK_DGRAM)
        self.port.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        self.port.bind(('', roce.PORT))
        self.ip_id = 1
        self.sent_at = 0
        self.seen = 0

    def send(self, p):
        p.src, p.dst = self.me, self.peer
        p.ip_id = self.ip_id
        self.ip_id = self.ip_id % 0xffff + 1
        self.out.send(self.head + roce.build(p))

    def receive(self, seconds=WAIT):
        """The next packet from the other side, or None. Checks what holds for each."""
        end = time.monotonic() + seconds
        while True:
            self.sock.settimeout(max(end - time.monotonic(), 0.0001))
            try:
                frame, extra, _, address = self.sock.recvmsg(65536, 64)
            except (TimeoutError, BlockingIOError):
                return None
            ip = frame[14:]
            stamp = 0.0
            for _, kind, data in extra:
                if kind == SO_TIMESTAMPNS:
                    stamp = int.from_bytes(data[:8], 'little') + \
                        int.from_bytes(data[8:16], 'little') / 1e9
            if not self.is_roce(frame):
                continue
            if address[2] == PACKET_OUTGOING:
                self.sent_at = stamp
                continue
            p = roce.parse(ip, stamp)
            self.seen += 1
            self.judge(p)
            return p

    def is_roce(self, frame):
        if frame[12:14] != self.head[12:14]:
            return False
        at = 14 + (20 if self.me.version == 4 else 40)
        proto = frame[14 + 9] if self.me.version == 4 else frame[14 + 6]
        return proto == 17 and frame[at + 2:at + 4] == roce.PORT.to_bytes(2, 'big')

    def judge(self, p):
        demand(p.icrc == p.computed, f'{p}: ICRC {p.icrc:#x}, computed {p.computed:#x}')
        demand(p.src == self.peer and p.dst == self.me, f'{p}: {p.src} to {p.dst}')
        demand(p.qpn == MY_QPN, f'{p}: not my queue pair')
        demand(p.migreq == 1, f'{p}: MigReq 0')
        demand(not p.resv8a and not p.resv7, f'{p}: reserved bits')
        demand(p.pad == -len(p.payload) & 3 and not any(p.pad_bytes), f'{p}: pad')
        demand(not (p.ackreq and roce.is_response(p.name)), f'{p}: AckReq')

    def quiet(self):
        p = self.receive(QUIET)
        demand(p is None, f'{p} came unasked')


class Peer:
    """The other end of one queue pair."""

    def __init__(self, wire, end):
        self.wire, self.end = wire, end
        self.qpn = 0
        self.psn = self.their_psn = self.msn = 0

    def connect(self, access=ALL, my_psn=0x1000, their_psn=0x2000, timeout=0, retry=7, rnr=7,
                min_rnr=1):
        self.qpn = int(self.end.ask('qp', access)[1])
        address = self.wire.me
        gid = address.packed if address.version == 6 else \
            bytes(10) + b'\xff\xff' + address.packed
        self.end.do('connect', MY_QPN, my_psn, their_psn, MTU, timeout, retry, rnr, min_rnr,
                    gid.hex())
        self.psn, self.their_psn, self.msn = my_psn, their_psn, 0
        # What a queue pair before this one still sent is not of interest.
        while self.wire.receive(0):
            pass

    # ---- as requester

    def request(self, opcode, payload=b'', advance=1, **fields):
        fields.setdefault('psn', self.psn)
        fields.setdefault('ackreq', 1)
        self.wire.send(Packet(opcode, qpn=self.qpn, payload=payload, **fields))
        self.psn = psn_add(self.psn, advance)

    def answered(self, syndrome_type=None, psn=None, seconds=WAIT):
        """An ACK or NAK; ACKs when no syndrome is named."""
        p = self.wire.receive(seconds)
        demand(p, 'no answer')
        demand(p.name == 'ACKNOWLEDGE', f'answer {p}')
        if syndrome_type is None:
            demand(p.syndrome >> 5 == 0, f'answer {p}')
        else:
            demand(p.syndrome == syndrome_type, f'answer {p}, wanted {syndrome_type:#x}')
        if psn is not None:
            demand(p.psn == psn, f'answer {p}, wanted psn {psn:#x}')
        return p

    def write(self, offset, data, **fields):
        fields.setdefault('rkey', self.end.rkey)
        self.request('WRITE_ONLY', data, va=self.end.address + offset, dmalen=len(data), **fields)
        return self.answered(psn=psn_add(self.psn, -1))

    def read(self, offset, length, again=False):
        packets = max(-(-length // MTU), 1)
        if again:
            self.psn = psn_add(self.psn, -packets)
        first = self.psn
        self.request('READ_REQUEST', b'', packets, va=self.end.address + offset, dmalen=length,
                     rkey=self.end.rkey)
        data = b''
        for i in range(packets):
            p = self.wire.receive()
            demand(p, f'no answer to a READ of {length} bytes after {len(data)}')
            place = 'ONLY' if packets == 1 else 'FIRST' if not i else \
                'LAST' if i == packets - 1 else 'MIDDLE'
            demand(p.name == f'READ_RESPONSE_{place}' and p.psn == psn_add(first, i),
                   f'{p}: wanted the {place}, psn {psn_add(first, i):#x}')
            demand(len(p.payload) == (MTU if i < packets - 1 else length - i * MTU), f'{p}: length')
            data += p.payload
        return data

    # ---- as responder

    def expect(self, opcode=None, seconds=WAIT, psn=None):
        """The next packet in order."""
        p = self.wire.receive(seconds)
        demand(p, f'no {opcode or "packet"} came')
        demand(opcode is None or p.name == opcode, f'{p}: wanted {opcode}')
        wanted = self.their_psn if psn is None else psn
        demand(p.psn == wanted, f'{p}: wanted psn {wanted:#x}')
        if psn is None:
            self.their_psn = psn_add(self.their_psn, 1)
        return p

    def ack(self, psn, syndrome=roce.ACK_UNLIMITED, count=1):
        self.msn = psn_add(self.msn, count)
        self.wire.send(Packet('ACKNOWLEDGE', qpn=self.qpn, psn=psn, syndrome=syndrome,
                              msn=self.msn))

    def nak(self, psn, syndrome):
        self.ack(psn, syndrome, 0)

    def answer_read(self, request, data):
        self.msn = psn_add(self.msn, 1)
        self.wire.send(Packet('READ_RESPONSE_ONLY', qpn=self.qpn, psn=request.psn, payload=data,
                              syndrome=roce.ACK_UNLIMITED, msn=self.msn))

    def take_message(self, ack=True):
        """A SEND or WRITE to its end; returns its packets."""
        packets = []
        while True:
            p = self.expect()
            packets.append(p)
            if 'LAST' in p.name or 'ONLY' in p.name:
                if ack:
                    self.ack(p.psn)
                return packets


# ------------------------------------------------------------------- B01, B11, B12

def sizes():
    return list(range(68)) + [MTU + n for n in (1, 2, 3, 4)] + [3 * MTU + 65]


def case_small_in(peer, end):
    """B01 WRITE, SEND and READ of each size from 0 to 67, made by hand: ICRC and pads fit"""
    peer.connect()
    for n in range(68):
        data = pattern(n, n)
        end.do('fill', 0, 256, 0xee)
        peer.write(64, data)
        demand(end.get(60, n + 8) == b'\xee' * 4 + data + b'\xee' * 4, f'WRITE of {n}: memory')
        demand(peer.read(64, n) == data, f'READ of {n}: data')
        end.do('recv', n, 1024, 128)
        peer.request('SEND_ONLY', data)
        peer.answered(psn=psn_add(peer.psn, -1))
        end.completed(n, length=n)
        demand(end.get(1024, n) == data, f'SEND of {n}: memory')


def case_small_out(peer, end):
    """B01 the same sizes, and some of several packets, sent by our requester"""
    peer.connect()
    for n in sizes():
        data = pattern(n, n)
        end.put(0, data)
        for verb, extra in (('write', (0x1234567890, 0xabcdef01)), ('send', ())):
            end.do(verb, n, 0, n, *extra)
            packets = peer.take_message()
            demand(b''.join(p.payload for p in packets) == data, f'{verb} of {n}: data')
            if verb == 'write':
                first = packets[0]
                demand((first.va, first.rkey, first.dmalen) == (*extra, n), f'{first}')
            end.completed(n)
        if n <= MTU:
            end.do('fill', 0, 2048, 0xee)
            end.do('read', n, 64, n, 0x42, 0x43)
            request = peer.expect('READ_REQUEST')
            demand((request.va, request.rkey, request.dmalen) == (0x42, 0x43, n), f'{request}')
            peer.answer_read(request, data)
            end.completed(n)
            demand(end.get(60, n + 8) == b'\xee' * 4 + data + b'\xee' * 4, f'READ of {n}: memory')


def case_small_long_in(peer, end):
    """B01 messages of several packets, each pad, by hand and back by READ"""
    peer.connect()
    for tail in (1, 2, 3, 4, 1023, 1024):
        data = pattern(tail, 2 * MTU + tail)
        parts = [data[i:i + MTU] for i in range(0, len(data), MTU)]
        peer.request('WRITE_FIRST', parts[0], va=end.address + 4096, rkey=end.rkey,
                     dmalen=len(data), ackreq=0)
        peer.request('WRITE_MIDDLE', parts[1], ackreq=0)
        peer.request('WRITE_LAST', parts[2])
        peer.answered(psn=psn_add(peer.psn, -1))
        demand(end.get(4096, len(data)) == data, f'WRITE of {len(data)}: memory')
        demand(peer.read(4096, len(data)) == data, f'READ of {len(data)}: data')


def case_reserved(peer, end):
    """B11 reserved BTH bits are ignored, whatever they are"""
    peer.connect()
    for n, (byte4, byte8) in enumerate(((0x3f, 0), (0xff, 0), (0xc0, 0), (0x01, 0), (0x80, 0x7f),
                                        (0, 0x7f), (0, 0x01), (0xff, 0x7f))):
        data = pattern(n, 32)
        peer.write(0, data, resv8a=byte4, resv7=byte8)
        demand(end.get(0, 32) == data, f'resv8a {byte4:#x} resv7 {byte8:#x}: memory')
        # An answer with such bits counts as well.
        end.do('write', n, 0, 8, 0, 0)
        p = peer.expect('WRITE_ONLY')
        peer.wire.send(Packet('ACKNOWLEDGE', qpn=peer.qpn, psn=p.psn, msn=n + 1,
                              syndrome=roce.ACK_UNLIMITED, resv8a=byte4, resv7=byte8))
        end.completed(n)


def case_migreq(peer, end):
    """B12 MigReq is accepted as 0 and as 1, in requests and in answers"""
    peer.connect()
    for n, bit in enumerate((0, 1, 0, 0, 1)):
        data = pattern(n, 20)
        peer.write(0, data, migreq=bit)
        demand(end.get(0, 20) == data, f'MigReq {bit}: memory')
        end.do('write', n, 0, 8, 0, 0)
        p = peer.expect('WRITE_ONLY')
        peer.wire.send(Packet('ACKNOWLEDGE', qpn=peer.qpn, psn=p.psn, msn=n + 1, migreq=bit,
                              syndrome=roce.ACK_UNLIMITED))
        end.completed(n)


def case_bad_icrc(peer, end):
    """a WRITE with a wrong ICRC changes nothing and is not answered"""
    peer.connect()
    end.do('fill', 0, 64, 0x11)
    good = Packet('WRITE_ONLY', qpn=peer.qpn, psn=peer.psn, payload=b'x' * 16, ackreq=1,
                  va=end.address, rkey=end.rkey, dmalen=16, src=peer.wire.me, dst=peer.wire.peer)
    raw = bytearray(roce.build(good))
    raw[-1] ^= 1
    peer.wire.out.send(peer.wire.head + bytes(raw))
    peer.wire.quiet()
    demand(end.get(0, 16) == b'\x11' * 16, 'memory')
    peer.write(0, b'y' * 16)
    demand(end.get(0, 16) == b'y' * 16, 'memory after a good one')


# ------------------------------------------------------------------- B14

WRAP = 0xfffff0


def many_writes(peer, end, count, lose=()):
    """count WRITEs of four packets; those PSNs in lose do not arrive the first time."""
    end.put(0, pattern(1, 4 * MTU))
    lose, posted, done = set(lose), 0, 0
    while done < count:
        while posted < count and posted - done < 16:
            end.do('write', posted, 0, 4 * MTU, 0x10000, 0x77)
            posted += 1
        p = peer.wire.receive()
        demand(p, f'no more packets after {done} messages')
        ahead = psn_diff(p.psn, peer.their_psn)
        if not ahead and p.psn in lose:
            lose.discard(p.psn)
            peer.gap = True
            continue
        demand(ahead >= 0, f'{p}: came again, expected {peer.their_psn:#x}')
        if ahead:
            demand(peer.gap is not False, f'{p}: after a gap that nobody made')
            if peer.gap is True:
                peer.nak(peer.their_psn, roce.NAK_SEQUENCE)
                peer.gap = None
            continue
        index = psn_diff(p.psn, peer.first) & 3
        demand(p.name == 'WRITE_' + ('FIRST', 'MIDDLE', 'MIDDLE', 'LAST')[index], f'{p}: shape')
        peer.gap = False
        peer.their_psn = psn_add(peer.their_psn, 1)
        if index == 3:
            demand(p.ackreq, f'{p}: asks for no answer')
            peer.ack(p.psn)
            end.completed(done)
            done += 1
    demand(not lose, f'psn {lose} never came')
    peer.wire.quiet()


def case_wrap_out(peer, end):
    """B14 1000 WRITEs of 4 packets from PSN 0xfffff0: each packet once, no stall"""
    peer.connect(their_psn=WRAP)
    peer.first, peer.gap = WRAP, False
    many_writes(peer, end, 1000)


def case_wrap_out_loss(peer, end):
    """B14 the packets around the wrap are lost once: sent again after a sequence NAK"""
    for lost in (0xfffffe, 0xffffff, 0, 1):
        peer.connect(their_psn=WRAP)
        peer.first, peer.gap = WRAP, False
        many_writes(peer, end, 20, {lost})


def case_wrap_out_ack(peer, end):
    """B14 the ACK before the wrap is lost: the one behind it counts for both"""
    peer.connect(their_psn=0xfffffd)
    for n in range(4):
        end.do('write', n, 0, 16, 0, 0)
    for _ in range(4):
        p = peer.expect('WRITE_ONLY')
    demand(p.psn == 0, f'{p}')
    peer.ack(0, count=4)
    for n in range(4):
        end.completed(n)


def case_wrap_timeout(peer, end):
    """B14 nothing is answered at the wrap: the ACK timeout starts it again from there"""
    peer.connect(their_psn=0xffffff, timeout=16)
    end.do('write', 1, 0, 2 * MTU, 0, 0)
    first, second = peer.expect('WRITE_FIRST'), peer.expect('WRITE_LAST')
    demand((first.psn, second.psn) == (0xffffff, 0), f'{first} {second}')
    peer.expect('WRITE_FIRST', psn=0xffffff)
    # It may have come again more than once by now.
    peer.ack(0)
    end.completed(1)


def case_wrap_in(peer, end):
    """B14 the packet at the responder's wrap is lost: one NAK, then no duplicate"""
    for lost in (0xffffff, 0):
        peer.connect(my_psn=0xfffffc)
        end.do('fill', 0, 8 * 16, 0)
        missing = None
        for n in range(8):
            if peer.psn == lost:
                missing = n
                peer.psn = psn_add(peer.psn, 1)
                continue
            peer.request('WRITE_ONLY', pattern(n, 16), va=end.address + 16 * n, rkey=end.rkey,
                         dmalen=16)
            if missing is None:
                peer.answered(psn=psn_add(peer.psn, -1))
        peer.answered(roce.NAK_SEQUENCE, psn=lost)
        peer.wire.quiet()
        demand(end.get(16 * missing, 16 * (8 - missing)) == bytes(16 * (8 - missing)),
               'something behind the gap was executed')
        peer.psn = lost
        for n in range(missing, 8):
            peer.write(16 * n, pattern(n, 16))
        demand(end.get(0, 128) == b''.join(pattern(n, 16) for n in range(8)), 'memory')
        # One from before the wrap again: acknowledged, not executed.
        end.do('fill', 0, 16, 0x55)
        peer.request('WRITE_ONLY', pattern(0, 16), 0, psn=0xfffffc, va=end.address,
                     rkey=end.rkey, dmalen=16)
        peer.answered(psn=psn_add(peer.psn, -1))
        demand(end.get(0, 16) == b'\x55' * 16, 'a duplicate was executed')


# ------------------------------------------------------------------- B17

def case_rnr(peer, end):
    """B17 no SEND comes again before the RNR NAK's time is over"""
    for code in (1, 5, 12, 16, 20, 22, 25, 28, 31, 0):
        peer.connect()
        rounds = 5 if roce.RNR_MS[code] < 50 else 1
        end.do('send', code, 0, 32)
        p = peer.expect('SEND_ONLY')
        least = None
        for _ in range(rounds):
            peer.nak(p.psn, roce.RNR_NAK | code)
            p = peer.expect('SEND_ONLY', psn=p.psn)
            gap = (p.stamp - peer.wire.sent_at) * 1000
            least = gap if least is None else min(gap, least)
            demand(gap >= roce.RNR_MS[code],
                   f'code {code}: again after {gap:.3f} ms, {roce.RNR_MS[code]} ms were asked for')
            demand(gap < roce.RNR_MS[code] + 5000, f'code {code}: only after {gap:.0f} ms')
        print(f'#   code {code:2}: {roce.RNR_MS[code]:7.2f} ms asked for, at least {least:.3f}')
        peer.ack(p.psn)
        end.completed(code)


def case_rnr_in(peer, end):
    """B17 our RNR NAK carries the QP's own timer code; a receive later it goes on"""
    for code in (1, 12, 31, 0):
        peer.connect(min_rnr=code)
        peer.request('SEND_ONLY', b'late')
        peer.answered(roce.RNR_NAK | code, psn=psn_add(peer.psn, -1))
        end.do('recv', 7, 0, 64)
        peer.request('SEND_ONLY', b'late', 0, psn=psn_add(peer.psn, -1))
        peer.answered(psn=psn_add(peer.psn, -1))
        end.completed(7, length=4)


# ------------------------------------------------------------------- refusals

def refused(peer, end, what, syndrome, send, event=None, access=ALL):
    """send() makes the request that is to be refused, on a queue pair of its own."""
    peer.connect(access=access)
    while end.ask('event', 0)[0] != 'none':
        pass
    before = end.get(0, 4096)
    psn = send()
    p = peer.answered(syndrome)
    demand(psn is None or p.psn == psn, f'{what}: {p}, wanted psn {psn:#x}')
    demand(end.state() == STATE_ERR, f'{what}: the queue pair goes on')
    demand(end.get(0, 4096) == before, f'{what}: memory was written')
    if event:
        said = ' '.join(end.ask('event', 5000)[1:])
        demand(event in said, f'{what}: event "{said}", wanted {event}')


def case_access(peer, end):
    """B20 B21 WRITE and READ with a bad key, range or right: a NAK at once, and an event"""
    a, size, rkey = end.address, int(end.size), end.rkey
    no_right = int(end.ask('mr', LOCAL_WRITE)[3])
    gone = end.ask('mr', ALL)
    end.do('dereg', gone[1])
    both = [('an rkey that never was', a, 64, 0x00ffff00, ALL),
            ('another key byte', a, 64, rkey ^ 1, ALL),
            ('rkey 0', a, 64, 0, ALL),
            ('an rkey of a region that has gone', a, 64, int(gone[3]), ALL),
            ('one byte beyond the end', a + size - 63, 64, rkey, ALL),
            ('one byte before the start', a - 1, 64, rkey, ALL),
            ('address 0', 0, 64, rkey, ALL),
            ('a region without the right', a, 64, no_right, ALL),
            ('a queue pair without the right', a, 64, rkey, LOCAL_WRITE)]
    for what, va, length, key, access in both:
        for opcode in ('WRITE_ONLY', 'READ_REQUEST'):
            data = bytes(length) if opcode == 'WRITE_ONLY' else b''

            def send():
                peer.request(opcode, data, va=va, rkey=key, dmalen=length)
                return psn_add(peer.psn, -1)
            refused(peer, end, f'{opcode} with {what}', roce.NAK_ACCESS, send, 'access', access)


def case_wrapping(peer, end):
    """B25 address and length that wrap 64 bits: NAK Remote Access Error, nothing else"""
    for va, length in ((0xfffffffffffffc00, 0x400), (0xfffffffffffffc00, 0x401),
                       (0xfffffffffffffc00, 0x7fffffff), (0xffffffffffffffff, 1),
                       (0xffffffffffffffff, 2), (end.address - (1 << 63) & (1 << 64) - 1, 8),
                       (end.address, 0x80000000), (end.address + int(end.size) - 1, 2)):
        for opcode in ('READ_REQUEST', 'WRITE_FIRST' if length > MTU else 'WRITE_ONLY'):
            data = b'' if opcode == 'READ_REQUEST' else bytes(min(length, MTU))

            def send():
                peer.request(opcode, data, va=va, rkey=end.rkey, dmalen=length)
                return psn_add(peer.psn, -1)
            refused(peer, end, f'{opcode} of {length:#x} at {va:#x}', roce.NAK_ACCESS, send)


def case_lengths(peer, end):
    """B08 lengths that do not fit opcode, path MTU or RETH: NAK Invalid Request"""
    reth = {'va': end.address, 'rkey': end.rkey}

    def begin(kind, total=4 * MTU):
        extra = dict(reth, dmalen=total) if kind == 'WRITE' else {}
        peer.request(kind + '_FIRST', pattern(0, MTU), ackreq=0, **extra)

    def first(kind, length):
        extra = dict(reth, dmalen=4 * MTU) if kind == 'WRITE' else {}
        peer.request(kind + '_FIRST', bytes(length), **extra)

    def after(kind, place, length, total=4 * MTU):
        begin(kind, total)
        peer.request(kind + place, bytes(length))

    def only(kind, length, total=None):
        extra = dict(reth, dmalen=length if total is None else total) if kind == 'WRITE' else {}
        peer.request(kind + '_ONLY', bytes(length), **extra)

    tests = []
    for kind in ('SEND', 'WRITE'):
        for length in (0, 1, 1023, MTU - 4, MTU + 1, MTU + 4, 2 * MTU):
            tests.append((f'{kind}_FIRST of {length}', first, (kind, length)))
            tests.append((f'{kind}_MIDDLE of {length}', after, (kind, '_MIDDLE', length)))
        tests.append((f'{kind}_LAST of 0', after, (kind, '_LAST', 0, MTU + 4)))
        for length in (MTU + 1, MTU + 4, 2 * MTU):
            tests.append((f'{kind}_LAST of {length}', after, (kind, '_LAST', length, MTU + length)))
            tests.append((f'{kind}_ONLY of {length}', only, (kind, length)))
    tests += [('a WRITE longer than its RETH', after, ('WRITE', '_LAST', 5, MTU + 4)),
              ('a WRITE shorter than its RETH', after, ('WRITE', '_LAST', 3, MTU + 4)),
              ('a WRITE_MIDDLE where its RETH ends', after, ('WRITE', '_MIDDLE', MTU, 2 * MTU)),
              ('WRITE_ONLY longer than its RETH', only, ('WRITE', 16, 15)),
              ('WRITE_ONLY shorter than its RETH', only, ('WRITE', 16, 17))]
    for what, make, words in tests:
        peer.connect()
        end.do('fill', 0, 8192, 0x33)
        end.do('recv', 1, 16384, 65536)
        make(*words)
        psn = psn_add(peer.psn, -1)
        p = peer.answered(roce.NAK_INVALID)
        demand(p.psn == psn, f'{what}: {p}, wanted psn {psn:#x}')
        demand(end.state() == STATE_ERR, f'{what}: the queue pair goes on')
        demand(end.get(MTU, 4096) == b'\x33' * 4096, f'{what}: memory was written')
        wc = end.completion()
        demand(wc and wc[0] == 1 and wc[1] != SUCCESS, f'{what}: the receive ended as {wc}')


def case_too_long(peer, end):
    """B08 a SEND longer than the receive: NAK Invalid Request, the receive says so"""
    peer.connect()
    end.do('fill', 0, 256, 0x33)
    end.do('recv', 3, 0, 15)
    peer.request('SEND_ONLY', bytes(16))
    peer.answered(roce.NAK_INVALID, psn=psn_add(peer.psn, -1))
    end.completed(3, status=1)
    demand(end.get(15, 64) == b'\x33' * 64, 'memory behind the receive')


def case_atomic_write(peer, end):
    """B24 ATOMIC WRITE of eight bytes is one, of another length NAK Invalid Request"""
    peer.connect()
    end.do('fill', 0, 4096, 0x33)
    peer.request('ATOMIC_WRITE', b'ABCDEFGH', va=end.address + 8, rkey=end.rkey, dmalen=8)
    p = peer.wire.receive()
    demand(p and p.name == 'READ_RESPONSE_ONLY' and not p.payload, f'answer {p}')
    demand(end.get(0, 24) == b'3' * 8 + b'ABCDEFGH' + b'3' * 8, 'eight bytes: memory')
    for there, said in ((0, 0), (4, 4), (7, 7), (9, 9), (16, 16), (0, 8), (8, 16), (16, 8)):
        def send():
            peer.request('ATOMIC_WRITE', bytes(there), va=end.address + 8, rkey=end.rkey,
                         dmalen=said)
            return psn_add(peer.psn, -1)
        refused(peer, end, f'ATOMIC WRITE of {there} bytes, RETH {said}', roce.NAK_INVALID, send)


def case_naks(peer, end):
    """B08 B20 NAKs end our request as the specification says, the rest is flushed in order"""
    for syndrome, status in ((roce.NAK_INVALID, 9), (roce.NAK_ACCESS, 10),
                             (roce.NAK_OPERATION, 11)):
        peer.connect()
        for n in range(4):
            end.do('write', 100 + n, 0, 64, 0, 0)
        end.do('recv', 200, 0, 64)
        psns = [peer.expect('WRITE_ONLY').psn for _ in range(4)]
        peer.ack(psns[0])
        peer.nak(psns[1], syndrome)
        end.completed(100)
        end.completed(101, status)
        flushed = [end.completion() for _ in range(3)]
        demand(all(wc and wc[1] == FLUSHED for wc in flushed), f'{flushed}')
        sends = [wc[0] for wc in flushed if wc[0] < 200]
        demand(sends == [102, 103], f'flushed in the order {sends}')
        end.no_completion()
        demand(end.state() == STATE_ERR, 'the queue pair goes on')
        peer.wire.quiet()


# ------------------------------------------------------------------- B23

def case_empty_in(peer, end):
    """B23 WRITE and READ of no bytes with any key and address succeed, and again when repeated"""
    gone = end.ask('mr', ALL)
    end.do('dereg', gone[1])
    for rkey in (0, int(gone[3]), 0xffffffff, end.rkey):
        for va in (0, 1, 0xffffffffffffffff, end.address + 3, end.address - 1):
            peer.connect()
            fields = {'va': va, 'rkey': rkey, 'dmalen': 0}
            for again in (0, 1):
                # The answer to the first one counts as lost.
                peer.request('WRITE_ONLY', psn=0x1000, **fields)
                peer.answered(psn=0x1000)
            for again in (0, 1):
                peer.request('READ_REQUEST', psn=0x1001, **fields)
                p = peer.wire.receive()
                demand(p and p.name == 'READ_RESPONSE_ONLY' and p.psn == 0x1001 and
                       not p.payload and p.syndrome >> 5 == 0, f'READ, round {again}: {p}')
            demand(end.state() == STATE_RTS, f'rkey {rkey:#x}: the queue pair is in error')
            peer.psn = 0x1002
            peer.write(0, b'alive')
            demand(end.get(0, 5) == b'alive', 'memory')


def case_empty_out(peer, end):
    """B23 our WRITE and READ of no bytes, the reply lost once: repeated, and a success"""
    for rkey, va in ((0, 0), (0xdead, 0xffffffffffffffff), (1, 3)):
        peer.connect(timeout=16)
        end.do('write', 1, 0, 0, va, rkey)
        p = peer.expect('WRITE_ONLY')
        demand(not p.payload and (p.va, p.rkey, p.dmalen) == (va, rkey, 0), f'{p}')
        peer.expect('WRITE_ONLY', psn=p.psn)
        peer.ack(p.psn)
        end.completed(1)
    for rkey, va in ((0, 0), (0xdead, 0xffffffffffffffff), (1, 3)):
        peer.connect(timeout=16)
        end.do('read', 2, 0, 0, va, rkey)
        p = peer.expect('READ_REQUEST')
        demand((p.va, p.rkey, p.dmalen) == (va, rkey, 0), f'{p}')
        peer.expect('READ_REQUEST', psn=p.psn)
        peer.answer_read(p, b'')
        end.completed(2)


def counter(name):
    """Of the only link there is. Only the host's /sys has these."""
    path, = glob.glob(f'/proc/1/root/sys/class/infiniband/*/ports/1/hw_counters/{name}')
    with open(path) as file:
        return int(file.read())


def case_gsi_absent(peer, end):
    """datagrams for queue pair 1, which no kernel module has made: dropped and counted"""
    peer.connect()
    before = counter('drop_no_qp')
    for n in range(5):
        peer.wire.send(Packet(roce.UD << 5 | roce.CODE['SEND_ONLY'], qpn=1, psn=n, sqpn=1,
                              qkey=0x80010000, payload=bytes(256)))
    peer.wire.quiet()
    dropped = counter('drop_no_qp') - before
    demand(dropped == 5, f'{dropped} of 5 counted')
    data = pattern(1, 32)
    peer.write(0, data)
    demand(end.get(0, 32) == data, 'memory')


CASES = [value for name, value in list(globals().items()) if name.startswith('case_')]


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('--net', required=True)
    parser.add_argument('--mac', required=True)
    parser.add_argument('--address', required=True, type=ipaddress.ip_address)
    parser.add_argument('--peer', required=True, type=ipaddress.ip_address)
    parser.add_argument('--only', default='')
    parser.add_argument('endpoint', nargs='+')
    args = parser.parse_args()
    wire, end = Wire(args), Endpoint(args.endpoint)
    peer = Peer(wire, end)
    bad = 0
    for case in CASES:
        if args.only not in case.__name__:
            continue
        began, why = time.monotonic(), ''
        try:
            case(peer, end)
        except (Fault, roce.Bad) as fault:
            why = f': {fault}'
        bad += bool(why)
        print(f'{"not " if why else ""}ok {case.__doc__} over IPv{wire.me.version}{why} '
              f'({time.monotonic() - began:.1f} s)', flush=True)
    print(f'# {wire.seen} packets of the other side decoded')
    status = end.close()
    if status:
        print(f'not ok the endpoint ended with status {status}')
    sys.exit(bool(bad or status))


main()
