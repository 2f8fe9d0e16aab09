// The JavaScript names that people expect and the script engine does not have.

const network = 'a script reaches nothing: put what it needs into regions and weights of members'
const timers = 'there are no timers, and nothing is waited for: set result as the script runs'
const modules = 'there are no files and no modules: write what is needed into the script'
const clock = 'use now, in whole seconds, or Date, which stands still at now in UTC'
const alone = 'a script runs alone: use plain values and lists'
const chance = 'use Math.random, which continues a seed so that an answer can be repeated'
const octets = 'use texts, or a Uint8Array and a loop'
const log = 'throw new Error(text): gslbd simulate shows the text in its trace'
const streams = 'use texts and lists: nothing is read or written in pieces'
const events = 'set result as the script runs: nothing happens later'
const urls = 'compare qname, which is a text with a final dot'
const formats = 'compare texts with < and >, and write numbers with String(x) or x.toFixed(n)'
const disposal = 'use try and finally: nothing has to be let go of'
const memory = 'a script keeps nothing: each run begins in a new world'
const browser = 'there is no page: use candidates, client, qname, qtype and now'

const rows: readonly [names: string, advice: string][] = [
  ['Intl', formats],
  ['Temporal', clock],
  ['Date.prototype.toTemporalInstant', clock],
  ['performance Performance PerformanceEntry PerformanceMark PerformanceMeasure', clock],
  ['PerformanceObserver PerformanceObserverEntryList PerformanceResourceTiming', clock],
  ['structuredClone', 'use JSON.parse(JSON.stringify(x)), or { ...x } for one level'],
  ['Array.fromAsync', 'use Array.from: nothing is waited for'],
  ['Atomics WebAssembly BroadcastChannel MessageChannel MessagePort MessageEvent Worker', alone],
  ['JSON.rawJSON JSON.isRawJSON', 'use JSON.stringify of plain values'],
  ['Uint8Array.fromBase64 Uint8Array.fromHex atob btoa Buffer Blob File', octets],
  ['Uint8Array.prototype.toBase64 Uint8Array.prototype.setFromBase64', octets],
  ['Uint8Array.prototype.toHex Uint8Array.prototype.setFromHex', octets],
  ['TextEncoder TextDecoder TextEncoderStream TextDecoderStream', octets],
  ['RegExp.$1 RegExp.$2 RegExp.$3 RegExp.$4 RegExp.$5', 'use the list that text.match returns'],
  ['RegExp.$6 RegExp.$7 RegExp.$8 RegExp.$9 RegExp.$_', 'use the list that text.match returns'],
  ['RegExp.lastMatch RegExp.lastParen RegExp.input', 'use the list that text.match returns'],
  ['RegExp.leftContext RegExp.rightContext', 'use text.slice with the index of text.match'],
  ['Error.captureStackTrace Error.stackTraceLimit Error.prepareStackTrace', log],
  ['SuppressedError DisposableStack AsyncDisposableStack', disposal],
  ['Symbol.dispose Symbol.asyncDispose', disposal],
  ['console alert', log],
  ['process global require module exports __dirname __filename', modules],
  ['setTimeout setInterval setImmediate clearTimeout clearInterval clearImmediate', timers],
  ['queueMicrotask requestAnimationFrame', timers],
  ['fetch FormData Headers Request Response WebSocket XMLHttpRequest EventSource', network],
  ['URL URLSearchParams URLPattern', urls],
  ['AbortController AbortSignal Event EventTarget CustomEvent CloseEvent ErrorEvent', events],
  ['DOMException QuotaExceededError', 'use Error'],
  ['ReadableStream ReadableStreamDefaultReader ReadableStreamBYOBReader', streams],
  ['ReadableStreamBYOBRequest ReadableByteStreamController', streams],
  ['ReadableStreamDefaultController WritableStream WritableStreamDefaultController', streams],
  ['WritableStreamDefaultWriter TransformStream TransformStreamDefaultController', streams],
  ['ByteLengthQueuingStrategy CountQueuingStrategy', streams],
  ['CompressionStream DecompressionStream', streams],
  ['crypto Crypto CryptoKey SubtleCrypto', chance],
  ['Storage localStorage sessionStorage', memory],
  ['navigator Navigator window document self', browser],
]

/** By name, as `scriptAbsences` finds it: the advice. */
export const absentFromScripts: ReadonlyMap<string, string> = new Map(
  rows.flatMap(([names, advice]) => names.split(' ').map((name) => [name, advice] as const)),
)
