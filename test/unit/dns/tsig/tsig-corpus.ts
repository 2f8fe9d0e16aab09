// The collected TSIG messages, good and hostile.
import { readdirSync, readFileSync } from 'node:fs'
import { tsigAlgorithm } from '#dns/tsig/tsig-algorithms.ts'
import type { TsigKey } from '#dns/tsig/tsig-key.ts'
import { wireName } from '#test/support/dns/wire-name.ts'

const folder = new URL('../../../fuzz/corpus/tsig/', import.meta.url)

/** By file name. In the files what follows a `#` means nothing. */
export const tsigCorpus: ReadonlyMap<string, Buffer> = new Map(
  readdirSync(folder)
    .sort()
    .map((name) => {
      const hex = readFileSync(new URL(name, folder), 'utf8').replace(/#.*|\s+/g, '')
      return [name.replace('.hex', ''), Buffer.from(hex, 'hex')]
    }),
)

export function corpusMessage(name: string): Buffer {
  return Buffer.from(tsigCorpus.get(name)!)
}

/** The key with which dig, kdig and nsupdate signed theirs, and when. */
const corpusSecret = Buffer.from('0123456789abcdefghijklmnopqrstuv')
export const corpusSeconds = 0x6b03c040

export function keyOf(name: string, algorithm = 'hmac-sha256.', secret = corpusSecret): TsigKey {
  return { name: wireName(name), algorithm: tsigAlgorithm(algorithm)!, secret }
}

/** A keyring of some keys. */
export function findIn(...keys: readonly TsigKey[]) {
  return (name: Uint8Array): TsigKey | undefined =>
    keys.find((key) => Buffer.from(key.name).equals(Buffer.from(name)))
}
