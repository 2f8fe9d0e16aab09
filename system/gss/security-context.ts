// Accepts security contexts of clients that have tickets for a key in a keytab. RFC 4121.
import { accessSync, constants } from 'node:fs'
import { assert } from '#lib/assert.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { gssMutualFlag, GssStatus, loadGss, Slot } from './gss-calls.ts'
import type { CallMemory, GssCalls } from './gss-calls.ts'

/** What came of a client's token. */
export type SecurityStep =
  | { readonly is: 'failed'; readonly why: string }
  /** The client must answer with another one. */
  | { readonly is: 'unfinished'; readonly token: Uint8Array }
  | {
      readonly is: 'agreed'
      readonly token: Uint8Array
      /** As Kerberos writes it: `host/pc1.example.org@EXAMPLE.ORG`. */
      readonly principal: string
      /** From now until the ticket ends. */
      readonly seconds: number
      /** Whether the client knows by the token that this is the server that it means. */
      readonly isMutual: boolean
    }

/** Agreed on or not yet; used by one caller at a time. */
export interface SecurityContext {
  readonly step: (token: Uint8Array) => Promise<SecurityStep>
  readonly sign: (data: Uint8Array) => Uint8Array
  /** Also of a message that was seen before: a repeated datagram. */
  readonly verifies: (data: Uint8Array, mac: Uint8Array) => boolean
  /** Releases its memory; nothing may follow. */
  readonly drop: () => void
}

/** @returns a context that has seen no token */
export type BeginContext = () => SecurityContext

/**
 * No replay cache: an attacker who sends a client's token again has a context without its key.
 * Messages that come again are the caller's to find.
 *
 * @param keytab its path
 * @returns errors: a sentence for the operator
 */
export async function openKeytab(keytab: string): Promise<Result<BeginContext, string>> {
  const fault = faultOf(keytab)
  if (fault !== undefined) return err(fault)
  const calls = loadGss()
  if (typeof calls === 'string') return err(calls)
  const memory = storeMemory(calls, { keytab: `FILE:${keytab}`, rcache: 'none:' })
  const status = await calls.acquire(memory, memory.address + BigInt(Slot.End))
  if (status !== GssStatus.Complete) return err(`${keytab}: ${calls.sentenceOf(status, memory)}`)
  const credentials = memory.octets.readBigUInt64LE(Slot.Handle)
  return ok(() => new KerberosContext(calls, credentials))
}

/** The library would say of any fault that there is no key. */
function faultOf(keytab: string): string | undefined {
  try {
    accessSync(keytab, constants.R_OK)
    return undefined
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    return code === 'ENOENT'
      ? `there is no file ${keytab}; export the key of DNS/HOST@REALM to it`
      : `${keytab} cannot be read (${code}); give it to the user of the node`
  }
}

/** gss_key_value_set_desc at `Slot.End`, and what it leads to. */
function storeMemory(calls: GssCalls, store: Readonly<Record<string, string>>): CallMemory {
  const texts = Object.entries(store).flat()
  const table = Buffer.alloc(16 + texts.length * 8)
  const memory = calls.memory(table, ...texts.map((text) => Buffer.from(`${text}\0`)))
  const { octets, address } = memory
  octets.writeUInt32LE(texts.length / 2, Slot.End)
  octets.writeBigUInt64LE(address + BigInt(Slot.End + 16), Slot.End + 8)
  let at = Slot.End + table.length
  for (const [i, text] of texts.entries()) {
    octets.writeBigUInt64LE(address + BigInt(at), Slot.End + 16 + i * 8)
    at += Buffer.byteLength(text) + 1
  }
  return memory
}

class KerberosContext implements SecurityContext {
  readonly #calls: GssCalls
  readonly #credentials: bigint
  #handle = 0n
  #isStepping = false
  #isDropped = false

  constructor(calls: GssCalls, credentials: bigint) {
    this.#calls = calls
    this.#credentials = credentials
  }

  async step(token: Uint8Array): Promise<SecurityStep> {
    assert(!this.#isStepping && !this.#isDropped, 'a context takes one token at a time')
    const memory = this.#calls.memory(token)
    describe(memory, Slot.In, Slot.End, token.length)
    memory.octets.writeBigUInt64LE(this.#handle, Slot.Handle)
    this.#isStepping = true
    const status = await this.#calls.accept(memory, this.#credentials).finally(() => {
      this.#isStepping = false
    })
    this.#handle = memory.octets.readBigUInt64LE(Slot.Handle)
    const step = this.#stepOf(status, memory)
    // Dropped meanwhile.
    if (this.#isDropped) this.#free()
    return step
  }

  #stepOf(status: number, memory: CallMemory): SecurityStep {
    const calls = this.#calls
    const answered = calls.takeOut(memory)
    if ((status & GssStatus.ErrorMask) !== 0) {
      return { is: 'failed', why: calls.sentenceOf(status, memory) }
    }
    if ((status & GssStatus.ContinueNeeded) !== 0) return { is: 'unfinished', token: answered }
    const seconds = memory.octets.readUInt32LE(Slot.Seconds)
    const isMutual = (memory.octets.readUInt32LE(Slot.Flags) & gssMutualFlag) !== 0
    const named = calls.displayName(memory)
    if (named !== GssStatus.Complete) {
      return { is: 'failed', why: calls.sentenceOf(named, memory) }
    }
    const principal = calls.takeOut(memory).toString()
    return { is: 'agreed', token: answered, principal, seconds, isMutual }
  }

  sign(data: Uint8Array): Uint8Array {
    assert(this.#handle !== 0n && !this.#isDropped, 'a context that signs is agreed on')
    const memory = this.#calls.memory(data)
    describe(memory, Slot.In, Slot.End, data.length)
    const status = this.#calls.getMic(memory, this.#handle)
    if (status !== GssStatus.Complete) throw new Error(this.#calls.sentenceOf(status, memory))
    return this.#calls.takeOut(memory)
  }

  verifies(data: Uint8Array, mac: Uint8Array): boolean {
    assert(this.#handle !== 0n && !this.#isDropped, 'a context that verifies is agreed on')
    const memory = this.#calls.memory(data, mac)
    describe(memory, Slot.In, Slot.End, data.length)
    describe(memory, Slot.Mac, Slot.End + data.length, mac.length)
    return (this.#calls.verifyMic(memory, this.#handle) & GssStatus.ErrorMask) === 0
  }

  drop(): void {
    if (this.#isDropped) return
    this.#isDropped = true
    if (!this.#isStepping) this.#free()
  }

  #free(): void {
    if (this.#handle === 0n) return
    const memory = this.#calls.memory()
    memory.octets.writeBigUInt64LE(this.#handle, Slot.Handle)
    this.#calls.deleteContext(memory)
    this.#handle = 0n
  }
}

/** Writes a gss_buffer_desc of octets in the same memory. */
function describe({ octets, address }: CallMemory, slot: number, at: number, bytes: number): void {
  octets.writeBigUInt64LE(BigInt(bytes), slot)
  octets.writeBigUInt64LE(address + BigInt(at), slot + 8)
}
