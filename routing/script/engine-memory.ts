// Snapshots of the engine's memory, restored after each run.
import { assert } from '#lib/assert.ts'
import { Exchange, exchangeMark } from './prelude.ts'

/** The part of WebAssembly.Memory that is used; its types come only with a browser's. */
export interface WasmMemory {
  readonly buffer: ArrayBuffer
}

/** Octets of the memory, from `at` on. */
interface Part {
  readonly at: number
  readonly octets: Uint8Array
}

/** The content of the memory at one moment, without the exchange. */
export interface MemoryImage {
  readonly parts: readonly Part[]
  readonly bytes: number
}

/**
 * Keeps the octets below and above the engine's stack. The stack is the longest run of zeros; its
 * free part, and the memory after the heap's end, are written before they are read. The exchange is
 * left out: each run writes what it reads there.
 */
export class EngineMemory {
  readonly #octets: Uint8Array
  readonly #words: Uint32Array
  readonly #stack: { readonly from: number; readonly to: number }
  readonly #exchangeAt: number
  /** The word after the last one ever written, except by makers of images, which clear it again. */
  readonly #end: number
  readonly #heapEnd: number
  readonly base: MemoryImage

  /** @param heapBytesMax octets that a run can add */
  constructor(memory: WasmMemory, heapBytesMax: number) {
    this.#octets = new Uint8Array(memory.buffer)
    this.#words = new Uint32Array(memory.buffer)
    this.#end = this.#lastWord(this.#words.length) + 1
    this.#heapEnd = Math.min(this.#words.length, this.#end + heapBytesMax / 4)
    this.#exchangeAt = this.#findExchange()
    this.#stack = this.#findStack()
    this.base = this.#image(this.#end)
  }

  exchange<T>(view: new (buffer: ArrayBufferLike, at: number, count: number) => T): {
    readonly of: (offset: number, count: number) => T
  } {
    const { buffer } = this.#octets
    return { of: (offset, count) => new view(buffer, this.#exchangeAt + offset, count) }
  }

  restore({ parts }: MemoryImage): void {
    for (const { at, octets } of parts) this.#octets.set(octets, at)
  }

  /** Like `restore(base)`, and clears the rest: later additions can be captured. */
  clear(): void {
    this.#words.fill(0, this.#end, this.#heapEnd)
    this.restore(this.base)
  }

  /** An image of the additions since `clear`. */
  capture(): MemoryImage {
    return this.#image(this.#lastWord(this.#heapEnd) + 1)
  }

  #image(end: number): MemoryImage {
    const { from, to } = this.#stack
    const exchange = this.#exchangeAt
    const parts = [
      this.#part(0, from * 4),
      this.#part(to * 4, exchange),
      this.#part(exchange + Exchange.Bytes, end * 4),
    ]
    return { parts, bytes: parts.reduce((sum, { octets }) => sum + octets.length, 0) }
  }

  #part(at: number, end: number): Part {
    return { at, octets: this.#octets.slice(at, end) }
  }

  #lastWord(end: number): number {
    let last = end - 1
    while (last > 0 && this.#words[last] === 0) last--
    return last
  }

  #findExchange(): number {
    const words = this.#words
    let found = -1
    for (let at = 0; at < this.#end; at++) {
      if (words[at] !== exchangeMark[0]) continue
      if (!exchangeMark.every((word, i) => words[at + i] === word)) continue
      assert(found < 0, 'the mark of the exchange stands in one place')
      found = at
    }
    assert(found >= 0, 'the prelude has marked the exchange')
    return found * 4
  }

  #findStack(): { from: number; to: number } {
    const words = this.#words
    let longest = { from: 0, to: 0 }
    for (let from = 0; from < this.#end; from++) {
      let to = from
      while (to < this.#end && words[to] === 0) to++
      if (to - from > longest.to - longest.from) longest = { from, to }
      from = to
    }
    assert(longest.to <= this.#exchangeAt / 4, 'the stack stands before the heap')
    return longest
  }
}
