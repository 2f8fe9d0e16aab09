// Functions of nghttp2, the library of HTTP/2 inside Node, through koffi. Addresses are numbers:
// a process has none beyond 2 ** 47. https://nghttp2.org/documentation/apiref.html
import { openLibc } from '#system/sockets/libc.ts'

/** What a callback returns besides 0. */
export const Nghttp2Error = { TemporalFailure: -521, CallbackFailure: -902 } as const
/** NGHTTP2_ERR_REFUSED_STREAM: a client has opened more than it may. */
export const refusedStream = -533

/** struct nghttp2_frame_hd */
export const FrameHead = { Stream: 8, Type: 12, Flags: 13, Bytes: 16 } as const
/** struct nghttp2_nv */
export const Field = {
  Name: 0,
  Value: 8,
  NameBytes: 16,
  ValueBytes: 24,
  Flags: 32,
  Bytes: 40,
} as const
/** struct nghttp2_settings_entry */
export const Entry = { Id: 0, Value: 4, Bytes: 8 } as const
/** struct nghttp2_data_provider */
export const Provider = { Read: 8, Bytes: 16 } as const
/** NGHTTP2_DATA_FLAG_EOF, what a callback that reads a body sets at its end. */
export const bodyEnds = 1

const header = [
  ...['void *', 'void *', 'uintptr_t', 'size_t', 'uintptr_t', 'size_t', 'uint8_t', 'void *'],
] as const
const callbacks = {
  on_begin_headers: ['void *', 'uintptr_t', 'void *'],
  on_header: header,
  on_invalid_header: header,
  on_frame_recv: ['void *', 'uintptr_t', 'void *'],
  on_data_chunk_recv: ['void *', 'uint8_t', 'int32_t', 'uintptr_t', 'size_t', 'void *'],
  on_stream_close: ['void *', 'int32_t', 'uint32_t', 'void *'],
  on_invalid_frame_recv: ['void *', 'void *', 'int', 'void *'],
} as const
const readBody = ['void *', 'int32_t', 'uintptr_t', 'size_t', 'uintptr_t', 'void *', 'void *']

/** The numbers among its arguments, those of other kinds left out. */
type Callback = (...values: number[]) => number
type Nghttp2Callbacks = Readonly<Record<keyof typeof callbacks, Callback>>

/** Made once in a thread: callbacks stay registered. */
export interface Nghttp2 {
  readonly addressOf: (octets: Uint8Array) => number
  readonly copy: (to: number, from: number, bytes: number) => void
  readonly copyFrom: (to: number, from: Uint8Array, bytes: number) => void
  /** Address of what `data` of a response reads by. */
  readonly bodyReader: number
  /** `into` is where the address of the session is written. */
  readonly open: (into: number) => number
  readonly free: (session: number) => void
  readonly receive: (session: number, octets: Uint8Array, bytes: number) => number
  /** `into` is where the address of what is to be sent is written. */
  readonly send: (session: number, into: number) => number
  readonly wantsRead: (session: number) => number
  readonly settings: (session: number, flags: 0, entries: number, count: number) => number
  readonly respond: (...values: [number, number, number, number, number]) => number
  readonly reset: (session: number, flags: 0, stream: number, code: number) => number
  readonly terminate: (session: number, code: number) => number
  readonly lastStream: (session: number) => number
  readonly goAway: (...values: [number, 0, number, number, 0, 0]) => number
}

/**
 * @param into eight octets or more, for addresses
 * @throws where there is no koffi, or no nghttp2 in Node
 */
export function bindNghttp2(
  on: Nghttp2Callbacks,
  onRead: Callback,
  resets: { readonly atOnce: number; readonly perSecond: number },
  into: Uint8Array,
): Nghttp2 {
  const { koffi, bindTo } = openLibc()
  const addressOf = (octets: Uint8Array): number => Number(koffi.address(octets))
  const place = addressOf(into)
  const slot = new DataView(into.buffer, into.byteOffset)
  const made = (prototype: string): number => {
    bindTo<(to: number) => number>(prototype)(place)
    return Number(slot.getBigUint64(0, true))
  }
  const register = (of: Callback, types: readonly string[], returns: string): number => {
    const type = koffi.proto(returns, [...types])
    return Number(koffi.address(koffi.register(of, koffi.pointer(type))))
  }
  const hooks = made('int nghttp2_session_callbacks_new(uintptr_t)')
  for (const [name, types] of Object.entries(callbacks)) {
    const set = `void nghttp2_session_callbacks_set_${name}_callback(uintptr_t, uintptr_t)`
    const callback = on[name as keyof typeof callbacks]
    bindTo<(hooks: number, to: number) => void>(set)(hooks, register(callback, types, 'int'))
  }
  const options = made('int nghttp2_option_new(uintptr_t)')
  const limit = 'void nghttp2_option_set_stream_reset_rate_limit(uintptr_t, uint64_t, uint64_t)'
  bindTo<(...values: number[]) => void>(limit)(options, resets.atOnce, resets.perSecond)
  const bodyReader = register(onRead, readBody, 'int64_t')
  return { addressOf, bodyReader, ...functions(bindTo, hooks, options) }
}

function functions(
  bindTo: <F>(prototype: string) => F,
  hooks: number,
  options: number,
): Omit<Nghttp2, 'addressOf' | 'bodyReader'> {
  const server = bindTo<(...values: number[]) => number>(
    'int nghttp2_session_server_new2(uintptr_t, uintptr_t, uintptr_t, uintptr_t)',
  )
  // The names are those that libraries of before 1.61 have, too.
  return {
    copy: bindTo('void memcpy(uintptr_t, uintptr_t, size_t)'),
    copyFrom: bindTo('void memcpy(uintptr_t, const void *, size_t)'),
    open: (into) => server(into, hooks, 0, options),
    free: bindTo('void nghttp2_session_del(uintptr_t)'),
    receive: bindTo('int64_t nghttp2_session_mem_recv(uintptr_t, const void *, size_t)'),
    send: bindTo('int64_t nghttp2_session_mem_send(uintptr_t, uintptr_t)'),
    wantsRead: bindTo('int nghttp2_session_want_read(uintptr_t)'),
    settings: bindTo('int nghttp2_submit_settings(uintptr_t, uint8_t, uintptr_t, size_t)'),
    respond: bindTo(
      'int nghttp2_submit_response(uintptr_t, int32_t, uintptr_t, size_t, uintptr_t)',
    ),
    reset: bindTo('int nghttp2_submit_rst_stream(uintptr_t, uint8_t, int32_t, uint32_t)'),
    terminate: bindTo('int nghttp2_session_terminate_session(uintptr_t, uint32_t)'),
    lastStream: bindTo('int32_t nghttp2_session_get_last_proc_stream_id(uintptr_t)'),
    goAway: bindTo(
      'int nghttp2_submit_goaway(uintptr_t, uint8_t, int32_t, uint32_t, uintptr_t, size_t)',
    ),
  }
}
