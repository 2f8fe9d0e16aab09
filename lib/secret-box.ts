// Encrypts secrets at rest: AES-256-GCM under GSLB_SECRET_KEY, as text or in a file.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import type { CipherGCM } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { writeDurably } from '#lib/durable-file.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'

const version = 'v1'
const nonceOctets = 12
const tagOctets = 16

/** @param key 32 octets */
export function seal(key: Uint8Array, secret: string): string {
  const sealer = new Sealer(key)
  sealer.add(secret)
  return [...sealer.end()].join('')
}

/** Encrypts a large secret that comes in parts, like `seal`. */
export class Sealer {
  readonly #nonce = randomBytes(nonceOctets)
  readonly #cipher: CipherGCM
  readonly #parts: Buffer[] = []

  /** @param key 32 octets */
  constructor(key: Uint8Array) {
    this.#cipher = createCipheriv('aes-256-gcm', key, this.#nonce)
  }

  add(part: string): void {
    this.#parts.push(this.#cipher.update(part, 'utf8'))
  }

  /** Yields the sealed text in about as many parts. */
  *end(): Generator<string> {
    const last = this.#cipher.final()
    yield `${version}.`
    let rest = Buffer.concat([this.#nonce, this.#cipher.getAuthTag()])
    for (const part of [...this.#parts, last]) {
      const octets = Buffer.concat([rest, part])
      // Three octets are four letters: remaining octets go with the next part.
      const end = octets.length - (octets.length % 3)
      yield octets.toString('base64url', 0, end)
      rest = octets.subarray(end)
    }
    yield rest.toString('base64url')
  }
}

/** Whether it looks like a text of `seal`. */
export const isSealed = (text: string): boolean => /^v1\.[\w-]{38,}$/.test(text)

/** Errors: `not-sealed`: no text of `seal`; `wrong-key`: sealed under another key, or altered. */
export function unseal(
  key: Uint8Array,
  sealed: string,
): Result<string, 'not-sealed' | 'wrong-key'> {
  const [head, body = ''] = sealed.split('.', 2)
  const all = Buffer.from(body, 'base64url')
  if (head !== version || all.length < nonceOctets + tagOctets) return err('not-sealed')
  const decipher = createDecipheriv('aes-256-gcm', key, all.subarray(0, nonceOctets), {
    authTagLength: tagOctets,
  })
  decipher.setAuthTag(all.subarray(nonceOctets, nonceOctets + tagOctets))
  try {
    const text = decipher.update(all.subarray(nonceOctets + tagOctets))
    return ok(Buffer.concat([text, decipher.final()]).toString('utf8'))
  } catch {
    return err('wrong-key')
  }
}

/**
 * @param key 32 octets; null: the secret is not set
 * @param bytesMax of the file
 * @returns null: there is no file. Errors: a sentence without its full stop
 */
export function readSealedFile(
  path: string,
  key: Uint8Array | null,
  bytesMax: number,
): Result<string | null, string> {
  try {
    const size = statSync(path, { throwIfNoEntry: false })?.size
    if (size === undefined) return ok(null)
    if (size > bytesMax) return err(`it has ${size} octets`)
    if (key === null) return err('it is sealed, and the secret of this node is not set')
    const opened = unseal(key, readFileSync(path, 'utf8').trim())
    return opened.ok ? opened : err('it is damaged, or was sealed under another secret')
  } catch (error) {
    return err((error as Error).message)
  }
}

/**
 * @param key 32 octets
 * @throws the file system's error; the file is then as it was
 */
export function writeSealedFile(path: string, key: Uint8Array, text: string): void {
  writeDurably(path, `${seal(key, text)}\n`, 0o600)
}
