// Functions of GSS-API (RFC 2744) in the library of MIT Kerberos, through koffi. The library is
// loaded only where somebody negotiates.
import { openLibc } from '#system/sockets/libc.ts'

/** What a call returns. RFC 2744 section 3.9: errors are in the upper half of the word. */
export const GssStatus = { Complete: 0, ContinueNeeded: 1, ErrorMask: 0xffff0000 } as const
/** RFC 2744 appendix A. */
export const gssMutualFlag = 2
const acceptUsage = 2
const indefinite = 0xffffffff
const StatusKind = { Gss: 1, Mechanism: 2 } as const

/** Where the arguments of a call are in its memory; what follows are octets that it reads. */
export const Slot = {
  Minor: 0,
  /** A handle: of a context, of credentials. */
  Handle: 8,
  /** gss_buffer_desc: octets, and their address. */
  In: 16,
  /** The same, of a second one. */
  Mac: 32,
  Name: 48,
  Out: 56,
  Flags: 72,
  Seconds: 76,
  More: 80,
  End: 88,
} as const

type Call = ((...values: (number | bigint)[]) => number) & {
  readonly async: (...values: unknown[]) => void
}

/** Memory of one call, which nothing moves. */
export interface CallMemory {
  readonly octets: Buffer
  readonly address: bigint
}

export interface GssCalls {
  /** @param more octets that the call reads, each at `Slot.End` behind the ones before */
  readonly memory: (...more: readonly Uint8Array[]) => CallMemory
  /** Acquires credentials for accepting contexts. The handle is in `Slot.Handle`. */
  readonly acquire: (memory: CallMemory, store: bigint) => Promise<number>
  /** Takes a token in `Slot.In`. */
  readonly accept: (memory: CallMemory, credentials: bigint) => Promise<number>
  /** Writes the name in `Slot.Name` to `Slot.Out`, and releases it. */
  readonly displayName: (memory: CallMemory) => number
  /** Signs what is in `Slot.In`; the MAC is in `Slot.Out`. */
  readonly getMic: (memory: CallMemory, context: bigint) => number
  readonly verifyMic: (memory: CallMemory, context: bigint) => number
  readonly deleteContext: (memory: CallMemory) => void
  /** @returns a copy of `Slot.Out`, which is released */
  readonly takeOut: (memory: CallMemory) => Buffer
  /** What a call that failed says. */
  readonly sentenceOf: (status: number, memory: CallMemory) => string
}

const library = 'libgssapi_krb5.so.2'
const pointers = (count: number): string => Array.from({ length: count }, () => 'uintptr_t').join()

/** Errors: a sentence for the operator. */
export function loadGss(): GssCalls | string {
  try {
    return bindCalls()
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return `${library} of MIT Kerberos is needed: apt-get install libgssapi-krb5-2 (${reason})`
  }
}

function bindCalls(): GssCalls {
  const { koffi, bindTo } = openLibc()
  const gss = koffi.load(library)
  const bind = (name: string, parameters: string): Call =>
    gss.func(`uint32_t ${name}(${parameters})`) as Call
  const copy = bindTo<(to: Uint8Array, from: bigint, bytes: number) => void>(
    'void memcpy(void *, uintptr_t, size_t)',
  )
  const usage = `${pointers(2)}, uint32_t, uintptr_t, int, ${pointers(4)}`
  const acquire = bind('gss_acquire_cred_from', usage)
  const accept = bind('gss_accept_sec_context', pointers(11))
  const display = bind('gss_display_name', pointers(4))
  const getMic = bind('gss_get_mic', 'uintptr_t, uintptr_t, uint32_t, uintptr_t, uintptr_t')
  const verifyMic = bind('gss_verify_mic', pointers(5))
  const deleteContext = bind('gss_delete_sec_context', pointers(3))
  const releaseBuffer = bind('gss_release_buffer', pointers(2))
  const releaseName = bind('gss_release_name', pointers(2))
  const status = bind('gss_display_status', `uintptr_t, uint32_t, int, ${pointers(3)}`)

  const takeOut = ({ octets, address }: CallMemory): Buffer => {
    const out = Buffer.alloc(Number(octets.readBigUInt64LE(Slot.Out)))
    if (out.length > 0) copy(out, octets.readBigUInt64LE(Slot.Out + 8), out.length)
    // Another place for its minor code: that of the call before is still to be read.
    releaseBuffer(address + BigInt(Slot.More), address + BigInt(Slot.Out))
    return out
  }
  // V8 may collect the memory of a call before it where nothing is read afterwards, and the library
  // would read what is free. That of a call that waits is read afterwards.
  let newest: Buffer
  const memory = (...more: readonly Uint8Array[]): CallMemory => {
    const octets = Buffer.concat([Buffer.alloc(Slot.End), ...more])
    newest = octets
    return { octets, address: koffi.address(newest) }
  }
  const textOf = (code: number, kind: number): string => {
    const own = memory()
    const at = (slot: number): bigint => own.address + BigInt(slot)
    const done = status(own.address, code, kind, 0, at(Slot.More), at(Slot.Out))
    return done === GssStatus.Complete ? takeOut(own).toString() : `code ${code}`
  }
  return {
    ...{ memory, takeOut },
    acquire: ({ address }, store) => {
      const into = address + BigInt(Slot.Handle)
      return later(acquire, address, 0, indefinite, 0, acceptUsage, store, into, 0, 0)
    },
    accept: ({ address }, credentials) => {
      const at = (slot: number): bigint => address + BigInt(slot)
      return later(
        ...[accept, address, at(Slot.Handle), credentials, at(Slot.In), 0, at(Slot.Name)],
        ...[0, at(Slot.Out), at(Slot.Flags), at(Slot.Seconds), 0],
      )
    },
    displayName: ({ octets, address }) => {
      const at = (slot: number): bigint => address + BigInt(slot)
      const done = display(address, octets.readBigUInt64LE(Slot.Name), at(Slot.Out), 0)
      releaseName(at(Slot.More), at(Slot.Name))
      return done
    },
    getMic: ({ address }, context) =>
      getMic(address, context, 0, address + BigInt(Slot.In), address + BigInt(Slot.Out)),
    verifyMic: ({ address }, context) =>
      verifyMic(address, context, address + BigInt(Slot.In), address + BigInt(Slot.Mac), 0),
    deleteContext: ({ address }) => void deleteContext(address, address + BigInt(Slot.Handle), 0),
    sentenceOf: (code, { octets }) => {
      const minor = octets.readUInt32LE(Slot.Minor)
      return minor === 0 ? textOf(code, StatusKind.Gss) : textOf(minor, StatusKind.Mechanism)
    },
  }
}

/** In a thread of libuv: it reads files, and may wait for them. */
function later(call: Call, ...values: readonly (number | bigint)[]): Promise<number> {
  return new Promise((resolve, reject) => {
    call.async(...values, (error: Error | null, result: number) => {
      if (error === null) resolve(result)
      else reject(error)
    })
  })
}
