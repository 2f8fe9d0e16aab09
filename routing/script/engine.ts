// QuickJS in WebAssembly: runs one body after the other, each in a world as good as new.
import quickJsBuild from '@jitl/quickjs-wasmfile-release-sync'
import { newQuickJSWASMModuleFromVariant, newVariant } from 'quickjs-emscripten-core'
import type {
  QuickJSContext,
  QuickJSHandle,
  QuickJSRuntime,
  QuickJSSyncVariant,
} from 'quickjs-emscripten-core'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { scriptLimits, ScriptOutcome, scriptPrelude } from './contract.ts'

export interface ScriptFault {
  readonly message: string
  /** From 1; 0: not known. */
  readonly line: number
  readonly column: number
}

export interface ScriptRun {
  readonly outcome: ScriptOutcome
  /** What `result` names, in its order, whatever it is. */
  readonly addresses: readonly string[]
  /** Of an exception, for people. */
  readonly message: string
}

/** Of 64 KiB: more than the engine's own stack and `memoryBytesMax` together. It never grows. */
const memoryPages = 256
const fileName = 'script'
const never = (): boolean => false

/** What is used of the platform's own; its types come with a browser's. */
interface Memory {
  readonly buffer: ArrayBuffer
}
type MemoryClass = new (limits: { initial: number; maximum: number }) => Memory
const { WebAssembly } = globalThis as unknown as { WebAssembly: { Memory: MemoryClass } }
/** The package's types speak of its other form, whose default export is one level deeper. */
const build = quickJsBuild as unknown as QuickJSSyncVariant

/** Takes some ten milliseconds: compiles the engine and builds its world. */
export async function loadScriptEngine(): Promise<ScriptEngine> {
  const memory = new WebAssembly.Memory({ initial: memoryPages, maximum: memoryPages })
  const variant = newVariant(build, { wasmMemory: memory })
  const module = await newQuickJSWASMModuleFromVariant(variant)
  return new ScriptEngine(module.newRuntime(), memory)
}

/**
 * After each run the engine's whole memory is put back to what it was before the first. That is
 * a tenth of the cost of a new realm, and nothing of one tenant's run is there in another's.
 */
export class ScriptEngine {
  readonly #context: QuickJSContext
  readonly #put: QuickJSHandle
  readonly #read: QuickJSHandle
  readonly #snapshot: MemorySnapshot
  #polls = 0
  #isLate = never
  #isBroken = false

  constructor(runtime: QuickJSRuntime, memory: Memory) {
    runtime.setMemoryLimit(scriptLimits.memoryBytesMax)
    runtime.setMaxStackSize(scriptLimits.stackBytesMax)
    runtime.setInterruptHandler(() => {
      this.#polls++
      return this.#polls * scriptLimits.stepsPerPoll > scriptLimits.stepsMax || this.#isLate()
    })
    this.#context = runtime.newContext()
    const pair = this.#context.unwrapResult(this.#context.evalCode(scriptPrelude))
    this.#put = this.#context.getProp(pair, 0)
    this.#read = this.#context.getProp(pair, 1)
    this.#snapshot = new MemorySnapshot(memory)
  }

  /** True when the engine itself has given up; it is of no more use. */
  get isBroken(): boolean {
    return this.#isBroken
  }

  /** Parses a body without running it. */
  check(body: string): Result<null, ScriptFault> {
    const found = this.#guarded(never, () => {
      const compiled = this.#context.evalCode(body, fileName, { type: 'global', compileOnly: true })
      return compiled.error === undefined ? undefined : this.#faultOf(compiled.error)
    })
    if (found instanceof Error) return err({ message: found.message, line: 0, column: 0 })
    return found === undefined ? ok(null) : err(found.fault)
  }

  /**
   * @param input canonical text of a ScriptInput
   * @param seed of `Math.random`
   * @param isLate asked every ten thousand steps; true ends the run
   */
  run(body: string, input: string, seed: number, isLate: () => boolean = never): ScriptRun {
    const context = this.#context
    const failed = (error: QuickJSHandle): ScriptRun => {
      const { name, fault } = this.#faultOf(error)
      return { outcome: outcomeOf(name, fault.message), addresses: [], message: fault.message }
    }
    const run = this.#guarded(isLate, (): ScriptRun => {
      const given = [context.newString(input), context.newNumber(seed)]
      const put = context.callFunction(this.#put, context.undefined, ...given)
      if (put.error !== undefined) return failed(put.error)
      const done = context.evalCode(body, fileName, { type: 'global' })
      if (done.error !== undefined) return failed(done.error)
      const most = context.newNumber(scriptLimits.resultBytesMax)
      const read = context.callFunction(this.#read, context.undefined, most)
      if (read.error !== undefined) return failed(read.error)
      const addresses = context.getString(read.value).split(' ').slice(0, -1)
      return { outcome: ScriptOutcome.Done, addresses, message: '' }
    })
    if (!(run instanceof Error)) return run
    return { outcome: ScriptOutcome.Memory, addresses: [], message: run.message }
  }

  #guarded<T>(isLate: () => boolean, work: () => T): T | Error {
    if (this.#isBroken) return new Error('the script engine has given up')
    this.#polls = 0
    this.#isLate = isLate
    try {
      return work()
    } catch (error) {
      // A fault of WebAssembly, such as the end of this thread's own stack.
      this.#isBroken = true
      return error instanceof Error ? error : new Error(String(error))
    } finally {
      // Handles of this run are not disposed of: what they point to is gone.
      if (!this.#isBroken) this.#snapshot.restore()
    }
  }

  /** What was thrown may be anything. Looking at it may run code; the limits hold here, too. */
  #faultOf(error: QuickJSHandle): { name: string; fault: ScriptFault } {
    const context = this.#context
    const textOf = (key: string): string => {
      if (context.typeof(error) !== 'object') return ''
      const value = context.getProp(error, key)
      return context.typeof(value) === 'string' ? context.getString(value).slice(0, 500) : ''
    }
    const [name, message, stack] = [textOf('name'), textOf('message'), textOf('stack')]
    const place = /\bscript:(\d+):(\d+)/.exec(stack)
    const fault = { message, line: Number(place?.[1] ?? 0), column: Number(place?.[2] ?? 0) }
    return { name, fault }
  }
}

function outcomeOf(name: string, message: string): ScriptOutcome {
  if (name === 'SyntaxError') return ScriptOutcome.Syntax
  if (name !== 'InternalError') return ScriptOutcome.Exception
  if (message === 'interrupted') return ScriptOutcome.Timeout
  const isMemory = /out of memory|stack overflow|too long/.test(message)
  return isMemory ? ScriptOutcome.Memory : ScriptOutcome.Exception
}

/**
 * The octets below and above the engine's stack. The stack is the longest run of zeros; what stands
 * in its free part, and behind the heap's end, is written before it is read.
 */
class MemorySnapshot {
  readonly #octets: Uint8Array
  readonly #low: Uint8Array
  readonly #high: Uint8Array
  readonly #highAt: number

  constructor(memory: Memory) {
    this.#octets = new Uint8Array(memory.buffer)
    const words = new Uint32Array(memory.buffer)
    let end = words.length
    while (words[end - 1] === 0) end--
    let gap = { from: 0, to: 0 }
    for (let from = 0; from < end; from++) {
      let to = from
      while (to < end && words[to] === 0) to++
      if (to - from > gap.to - gap.from) gap = { from, to }
      from = to
    }
    this.#low = this.#octets.slice(0, gap.from * 4)
    this.#highAt = gap.to * 4
    this.#high = this.#octets.slice(this.#highAt, end * 4)
  }

  restore(): void {
    this.#octets.set(this.#low)
    this.#octets.set(this.#high, this.#highAt)
  }
}
