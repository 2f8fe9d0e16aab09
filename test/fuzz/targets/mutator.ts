// Makes hostile DNS messages out of honest ones. The same seed makes the same messages.
import type { Random } from '#lib/random.ts'

type Mutation = (bytes: Buffer, random: Random, others: readonly Buffer[]) => Buffer

/** Octets at which readers turn: label types, the length limits, sign bits. */
const turningOctets = [0x00, 0x01, 0x0c, 0x3f, 0x40, 0x7f, 0x80, 0xbf, 0xc0, 0xfe, 0xff] as const
/** The same for 16 bits: counts, lengths, pointers, OPT and meta types. */
const turningWords = [
  0, 1, 2, 12, 41, 250, 252, 255, 512, 0x7fff, 0x8000, 0xc00c, 0xc010, 0xffff,
] as const
const headerBytes = 12
const bytesMax = 1_400

/** Small changes, after which most of the message still reads: they get far. */
const gentle: readonly Mutation[] = Object.freeze<Mutation[]>([
  function flipBit(bytes, random) {
    const at = place(bytes, random)
    bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << random.below(8)), at)
    return bytes
  },
  function setOctet(bytes, random) {
    bytes.writeUInt8(pick(turningOctets, random), place(bytes, random))
    return bytes
  },
  function setWord(bytes, random) {
    if (bytes.length < 2) return bytes
    const at = Math.min(place(bytes, random), bytes.length - 2)
    bytes.writeUInt16BE(pick(turningWords, random), at)
    return bytes
  },
  function setLastOctet(bytes, random) {
    bytes.writeUInt8(random.below(256), bytes.length - 1)
    return bytes
  },
])

/** Large ones, which mostly end in FORMERR or silence. */
const rough: readonly Mutation[] = Object.freeze<Mutation[]>([
  function setCount(bytes, random) {
    if (bytes.length < headerBytes) return bytes
    bytes.writeUInt16BE(random.below(4), 4 + 2 * random.below(4))
    return bytes
  },
  function cut(bytes, random) {
    return bytes.subarray(0, 1 + random.below(bytes.length))
  },
  function remove(bytes, random) {
    const from = random.below(bytes.length)
    const to = from + 1 + random.below(8)
    return Buffer.concat([bytes.subarray(0, from), bytes.subarray(to)])
  },
  function insert(bytes, random) {
    const at = random.below(bytes.length)
    return Buffer.concat([bytes.subarray(0, at), noise(random, 8), bytes.subarray(at)])
  },
  function append(bytes, random) {
    return Buffer.concat([bytes, noise(random, 40)])
  },
  function repeatPart(bytes, random) {
    const from = random.below(bytes.length)
    const part = bytes.subarray(from, from + 1 + random.below(30))
    const times = 1 + random.below(20)
    return Buffer.concat([bytes.subarray(0, from), ...Array<Buffer>(times).fill(part)])
  },
  function splice(bytes, random, others) {
    const other = pick(others, random)
    const head = bytes.subarray(0, random.below(bytes.length))
    return Buffer.concat([head, other.subarray(random.below(other.length))])
  },
  function point(bytes, random) {
    if (bytes.length < headerBytes + 2) return bytes
    const at = headerBytes + random.below(bytes.length - headerBytes - 1)
    bytes.writeUInt16BE(0xc000 | random.below(bytes.length), at)
    return bytes
  },
  function onlyNoise(_bytes, random) {
    return noise(random, 200)
  },
])

/** @returns one of `seeds` after one to four changes, 0 to 1,400 octets */
export function mutated(seeds: readonly Buffer[], random: Random): Buffer {
  let bytes: Buffer = Buffer.from(pick(seeds, random))
  const changes = 1 + random.below(4)
  for (let i = 0; i < changes && bytes.length > 0; i++) {
    const kind = random.below(6) === 0 ? rough : gentle
    bytes = Buffer.from(pick(kind, random)(bytes, random, seeds))
  }
  return bytes.subarray(0, bytesMax)
}

/** Anywhere, or as often near the end, where OPT and its options are. */
function place(bytes: Buffer, random: Random): number {
  if (random.below(2) === 0) return random.below(bytes.length)
  return bytes.length - 1 - random.below(Math.min(bytes.length, 24))
}

function pick<T>(items: readonly T[], random: Random): T {
  return items[random.below(items.length)] as T
}

function noise(random: Random, lengthMax: number): Buffer {
  return Buffer.from(Array.from({ length: 1 + random.below(lengthMax) }, () => random.below(256)))
}
