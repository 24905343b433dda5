# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
"""RoCEv2 packets of the RC, UC and UD services, read and written.

Made from the InfiniBand specification (volume 1, chapter 9; annex A17 for the
IP encapsulation and its ICRC) and not from the driver, so that the two can
contradict each other. Imported by wire.py and rawpeer.py.

    IP header | UDP header to port 4791 | BTH | other headers | payload | pad | ICRC
"""
import ipaddress
import struct
import zlib

PORT = 4791
PSN_MASK = 0xffffff

# Opcode of RC: name and headers after the BTH. The upper three bits say the service.
RC, UC, UD = 0, 1, 3
OPCODES = {
    0x00: ('SEND_FIRST', ()),
    0x01: ('SEND_MIDDLE', ()),
    0x02: ('SEND_LAST', ()),
    0x03: ('SEND_LAST_IMM', ('imm',)),
    0x04: ('SEND_ONLY', ()),
    0x05: ('SEND_ONLY_IMM', ('imm',)),
    0x06: ('WRITE_FIRST', ('reth',)),
    0x07: ('WRITE_MIDDLE', ()),
    0x08: ('WRITE_LAST', ()),
    0x09: ('WRITE_LAST_IMM', ('imm',)),
    0x0a: ('WRITE_ONLY', ('reth',)),
    0x0b: ('WRITE_ONLY_IMM', ('reth', 'imm')),
    0x0c: ('READ_REQUEST', ('reth',)),
    0x0d: ('READ_RESPONSE_FIRST', ('aeth',)),
    0x0e: ('READ_RESPONSE_MIDDLE', ()),
    0x0f: ('READ_RESPONSE_LAST', ('aeth',)),
    0x10: ('READ_RESPONSE_ONLY', ('aeth',)),
    0x11: ('ACKNOWLEDGE', ('aeth',)),
    0x12: ('ATOMIC_ACKNOWLEDGE', ('aeth', 'atomicack')),
    0x13: ('COMPARE_SWAP', ('atomic',)),
    0x14: ('FETCH_ADD', ('atomic',)),
    0x16: ('SEND_LAST_INVALIDATE', ('inv',)),
    0x17: ('SEND_ONLY_INVALIDATE', ('inv',)),
    0x1d: ('ATOMIC_WRITE', ('reth',)),
}
CODE = {name: code for code, (name, _) in OPCODES.items()}
# UC has those that need no answer, UD those of one packet.
OPCODES |= {UC << 5 | code: OPCODES[code] for code in range(0x0c)}
OPCODES |= {UD << 5 | code: (OPCODES[code][0], ('deth',) + OPCODES[code][1])
            for code in (0x04, 0x05)}
HEADER_SIZE = {'deth': 8, 'reth': 16, 'aeth': 4, 'imm': 4, 'inv': 4, 'atomic': 28, 'atomicack': 8}
NO_PAYLOAD = ('READ_REQUEST', 'ACKNOWLEDGE', 'ATOMIC_ACKNOWLEDGE', 'COMPARE_SWAP',
              'FETCH_ADD')

# AETH syndromes (tables 44 to 46 of volume 1)
ACK_UNLIMITED = 0x1f
RNR_NAK, NAK_SEQUENCE, NAK_INVALID, NAK_ACCESS, NAK_OPERATION = 0x20, 0x60, 0x61, 0x62, 0x63
# RNR NAK timer codes, in milliseconds
RNR_MS = (655.36, 0.01, 0.02, 0.03, 0.04, 0.06, 0.08, 0.12, 0.16, 0.24, 0.32, 0.48, 0.64, 0.96,
          1.28, 1.92, 2.56, 3.84, 5.12, 7.68, 10.24, 15.36, 20.48, 30.72, 40.96, 61.44, 81.92,
          122.88, 163.84, 245.76, 327.68, 491.52)


class Bad(Exception):
    """A packet that cannot be one."""


def psn_add(psn, n):
    return (psn + n) & PSN_MASK


def psn_diff(a, b):
    """How far a is ahead of b, in -2^23 to 2^23 - 1."""
    return ((a - b + (1 << 23)) & PSN_MASK) - (1 << 23)


def is_response(name):
    return 'RESPONSE' in name or 'ACKNOWLEDGE' in name


class Packet:
    """Fields as they are on the wire; those of headers it has not stay None."""

    def __init__(self, opcode='SEND_ONLY', **fields):
        self.opcode = CODE[opcode] if isinstance(opcode, str) else opcode
        self.solicited = self.tver = self.resv8a = self.resv7 = 0
        self.migreq, self.ackreq, self.pkey = 1, 0, 0xffff
        self.qpn = self.psn = 0
        self.va = self.rkey = self.dmalen = None
        self.syndrome = self.msn = self.imm = self.inv = None
        self.qkey = self.sqpn = 0
        self.payload, self.pad, self.pad_bytes = b'', None, None
        # of the IP packet
        self.src = self.dst = None
        self.sport, self.ip_id, self.ttl, self.tos = 0xc0de, 0, 64, 0
        self.icrc = self.computed = self.stamp = None
        for name, value in fields.items():
            if not hasattr(self, name):
                raise AttributeError(name)
            setattr(self, name, value)

    @property
    def name(self):
        return OPCODES[self.opcode][0]

    @property
    def service(self):
        return self.opcode >> 5

    @property
    def headers(self):
        return OPCODES[self.opcode][1]

    def __str__(self):
        text = f'{self.name} qpn {self.qpn:#x} psn {self.psn:#x} {len(self.payload)} bytes'
        if self.syndrome is not None:
            text += f' syndrome {self.syndrome:#x} msn {self.msn}'
        if self.va is not None:
            text += f' va {self.va:#x} rkey {self.rkey:#x} length {self.dmalen}'
        return text


def icrc(ip):
    """The invariant CRC of an IP packet whose last four bytes are its place."""
    head = bytearray(ip)
    if head[0] >> 4 == 4:
        udp = 20
        head[1] = head[8] = 0xff                    # TOS, TTL
        head[10:12] = b'\xff\xff'                   # checksum
    else:
        udp = 40
        head[0] |= 0x0f                             # traffic class and flow label
        head[1:4] = b'\xff\xff\xff'
        head[7] = 0xff                              # hop limit
    head[udp + 6:udp + 8] = b'\xff\xff'             # UDP checksum
    head[udp + 8 + 4] = 0xff                        # FECN, BECN, reserved
    # In front stands, in ones, what an InfiniBand packet has there: the LRH.
    return zlib.crc32(bytes(head[:-4]), zlib.crc32(b'\xff' * 8))


def parse(ip, stamp=None):
    """A Packet from an IP packet to port 4791. Raises Bad."""
    p = Packet()
    p.stamp = stamp
    version = ip[0] >> 4
    if version == 4:
        if ip[0] != 0x45:
            raise Bad('IPv4 options')
        total, udp = struct.unpack_from('>H', ip, 2)[0], 20
        p.tos, p.ttl, p.ip_id = ip[1], ip[8], struct.unpack_from('>H', ip, 4)[0]
        p.src, p.dst = ipaddress.ip_address(ip[12:16]), ipaddress.ip_address(ip[16:20])
    elif version == 6:
        total, udp = struct.unpack_from('>H', ip, 4)[0] + 40, 40
        p.ttl = ip[7]
        p.tos = (struct.unpack_from('>H', ip, 0)[0] >> 4) & 0xff
        p.src, p.dst = ipaddress.ip_address(ip[8:24]), ipaddress.ip_address(ip[24:40])
    else:
        raise Bad(f'IP version {version}')
    if total > len(ip):
        raise Bad(f'IP length {total}, there are {len(ip)} bytes')
    ip = ip[:total]
    if total < udp + 8 + 12 + 4:
        raise Bad(f'{total} bytes are too few')
    p.sport, dport, udp_len, _ = struct.unpack_from('>4H', ip, udp)
    if dport != PORT:
        raise Bad(f'to UDP port {dport}')
    if udp_len != total - udp:
        raise Bad(f'UDP length {udp_len} in {total - udp} bytes')
    parse_transport(p, ip[udp + 8:])
    p.computed = icrc(ip)
    return p


def parse_transport(p, data):
    p.opcode, flags, p.pkey, p.resv8a = struct.unpack_from('>BBHB', data)
    p.qpn = int.from_bytes(data[5:8], 'big')
    p.ackreq, p.resv7 = data[8] >> 7, data[8] & 0x7f
    p.psn = int.from_bytes(data[9:12], 'big')
    p.solicited, p.migreq = flags >> 7, flags >> 6 & 1
    p.pad, p.tver = flags >> 4 & 3, flags & 15
    if p.opcode not in OPCODES:
        raise Bad(f'opcode {p.opcode:#x}')
    at = 12
    for header in p.headers:
        size = HEADER_SIZE[header]
        if len(data) < at + size + 4:
            raise Bad(f'{p.name} without its {header}')
        if header == 'reth':
            p.va, p.rkey, p.dmalen = struct.unpack_from('>QII', data, at)
        elif header == 'aeth':
            p.syndrome, p.msn = data[at], int.from_bytes(data[at + 1:at + 4], 'big')
        elif header == 'imm':
            p.imm = struct.unpack_from('>I', data, at)[0]
        elif header == 'inv':
            p.inv = struct.unpack_from('>I', data, at)[0]
        at += size
    end = len(data) - 4
    if end - at < p.pad:
        raise Bad(f'{p.name} with {end - at} bytes and a pad of {p.pad}')
    p.payload = data[at:end - p.pad]
    p.pad_bytes = data[end - p.pad:end]
    p.icrc = int.from_bytes(data[end:], 'little')


def build_transport(p):
    """BTH, other headers, payload and pad; without the ICRC."""
    pad = -len(p.payload) & 3 if p.pad is None else p.pad
    data = bytearray(struct.pack(
        '>BBHB3sB3s', p.opcode, p.solicited << 7 | p.migreq << 6 | pad << 4 | p.tver, p.pkey,
        p.resv8a, p.qpn.to_bytes(3, 'big'), p.ackreq << 7 | p.resv7, p.psn.to_bytes(3, 'big')))
    for header in p.headers:
        if header == 'reth':
            data += struct.pack('>QII', p.va or 0, p.rkey or 0, p.dmalen or 0)
        elif header == 'aeth':
            data += struct.pack('>B3s', p.syndrome, p.msn.to_bytes(3, 'big'))
        elif header == 'imm':
            data += struct.pack('>I', p.imm)
        elif header == 'deth':
            data += struct.pack('>II', p.qkey, p.sqpn)
        else:
            data += bytes(HEADER_SIZE[header])
    return bytes(data) + p.payload + (bytes(pad) if p.pad_bytes is None else p.pad_bytes)


def checksum(data):
    total = sum(struct.unpack(f'>{(len(data) + 1) // 2}H', data + bytes(len(data) & 1)))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def build(p):
    """The IP packet, its ICRC and checksums computed."""
    body = build_transport(p)
    size = 8 + len(body) + 4
    udp = struct.pack('>4H', p.sport, PORT, size, 0)
    if p.src.version == 4:
        head = bytearray(struct.pack('>BBHHHBBH4s4s', 0x45, p.tos, 20 + size, p.ip_id, 0x4000,
                                     p.ttl, 17, 0, p.src.packed, p.dst.packed))
        head[10:12] = checksum(bytes(head)).to_bytes(2, 'big')
    else:
        head = struct.pack('>IHBB16s16s', 6 << 28 | p.tos << 20, size, 17, p.ttl, p.src.packed,
                           p.dst.packed)
    packet = bytes(head) + udp + body + bytes(4)
    packet = packet[:-4] + icrc(packet).to_bytes(4, 'little')
    if p.src.version == 6:
        # IPv6 wants a UDP checksum; the ICRC leaves it out.
        pseudo = p.src.packed + p.dst.packed + struct.pack('>II', size, 17)
        packet = packet[:46] + (checksum(pseudo + packet[40:]) or 0xffff).to_bytes(2, 'big') + \
            packet[48:]
    return packet
