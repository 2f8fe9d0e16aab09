// Damage to objects of a repository on disk, and its repair.
import { chmodSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

interface Damage {
  readonly oid: string
  readonly repair: () => void
}

/** Damages a loose object. */
export function damageObject(gitdir: string, oid: string, how: 'lost' | 'flipped'): Damage {
  const path = join(gitdir, 'objects', oid.slice(0, 2), oid.slice(2))
  const aside = `${path}.aside`
  const whole = readFileSync(path)
  renameSync(path, aside)
  if (how === 'flipped') writeFileSync(path, flipped(whole, whole.length >> 1))
  return { oid, repair: () => renameSync(aside, path) }
}

/** Flips one octet of a file. */
export function flipOctet(path: string, at: number): void {
  chmodSync(path, 0o644)
  writeFileSync(path, flipped(readFileSync(path), at))
}

function flipped(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes)
  copy[at]! ^= 0xff
  return copy
}
