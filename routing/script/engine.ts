// Runs script bodies in QuickJS on WebAssembly, each in a fresh global environment.
import quickJsBuild from '@jitl/quickjs-wasmfile-release-sync'
import { newQuickJSWASMModuleFromVariant, newVariant } from 'quickjs-emscripten-core'
import type {
  QuickJSContext,
  QuickJSHandle,
  QuickJSRuntime,
  QuickJSSyncVariant,
} from 'quickjs-emscripten-core'
import { bundleLimits } from '#bundle/format/limits.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { scriptLimits, ScriptOutcome } from './contract.ts'
import { EngineMemory } from './engine-memory.ts'
import type { MemoryImage, WasmMemory } from './engine-memory.ts'
import { emptyResult, Exchange, resultFaults, scriptPrelude } from './prelude.ts'

export interface ScriptFault {
  readonly message: string
  /** From 1; 0: not known. */
  readonly line: number
  /** In characters, from 1; 0: not known. */
  readonly column: number
}

/** The input of a run. */
export interface ScriptQuestion {
  /** JSON list with the constant fields of each member. */
  readonly members: string
  /** Places of the candidates among the members, in order, and their number. */
  readonly places: Uint32Array
  readonly count: number
  /** Three a candidate: weight, health_score, rtt_ms. */
  readonly values: Float64Array
  /** JSON, an object: client, qname, qtype, now. */
  readonly globals: string
  /** The seed of `Math.random`. */
  readonly seed: number
}

export interface ScriptRun {
  readonly outcome: ScriptOutcome
  /** The members in `result`, in its order: candidates or not, possibly repeated. */
  readonly named: Uint32Array
  /** Why the run changes nothing, for people. */
  readonly message: string
}

/** Pages of 64 KiB: more than the engine's stack and `heapBytesMax` together. It never grows. */
const memoryPages = 256
/** The heap of a script, and as much again for the engine itself and for gaps. */
const heapBytesMax = scriptLimits.memoryBytesMax * 2
const fileName = 'script'
const never = (): boolean => false
const nobody = new Uint32Array(0)

type MemoryClass = new (limits: { initial: number; maximum: number }) => WasmMemory
const { WebAssembly } = globalThis as unknown as { WebAssembly: { Memory: MemoryClass } }
/** The package's types describe its other form, whose default export is one level deeper. */
const build = quickJsBuild as unknown as QuickJSSyncVariant

/** Takes some ten milliseconds: compiles the engine and builds its world. */
export async function loadScriptEngine(): Promise<ScriptEngine> {
  const memory = new WebAssembly.Memory({ initial: memoryPages, maximum: memoryPages })
  const variant = newVariant(build, { wasmMemory: memory })
  const module = await newQuickJSWASMModuleFromVariant(variant)
  return new ScriptEngine(module.newRuntime(), memory)
}

/**
 * Runs bodies. Before each run the engine's whole memory is restored to its state before any run.
 * That costs a tenth of a new realm, and leaves nothing of one tenant's run to another's. For a
 * large pool it is restored to its state just after that pool was built.
 */
export class ScriptEngine {
  readonly #context: QuickJSContext
  readonly #build: QuickJSHandle
  readonly #put: QuickJSHandle
  readonly #read: QuickJSHandle
  readonly #memory: EngineMemory
  readonly #counts: Uint32Array
  readonly #places: Uint32Array
  readonly #values: Float64Array
  readonly #order: Uint32Array
  /** Images by `members` of a question. */
  #kept = new Map<string, MemoryImage>()
  #polls = 0
  #isLate = never
  #isBroken = false

  constructor(runtime: QuickJSRuntime, memory: WasmMemory) {
    runtime.setMemoryLimit(scriptLimits.memoryBytesMax)
    runtime.setMaxStackSize(scriptLimits.stackBytesMax)
    runtime.setInterruptHandler(() => {
      this.#polls++
      return this.#hasNoStepsLeft() || this.#isLate()
    })
    this.#context = runtime.newContext()
    const parts = this.#context.unwrapResult(this.#context.evalCode(scriptPrelude))
    this.#build = this.#context.getProp(parts, 0)
    this.#put = this.#context.getProp(parts, 1)
    this.#read = this.#context.getProp(parts, 2)
    this.#memory = new EngineMemory(memory, heapBytesMax)
    const { membersPerPoolMax } = bundleLimits
    const words = this.#memory.exchange(Uint32Array)
    this.#counts = words.of(0, Exchange.Values / 4)
    this.#places = words.of(Exchange.Places, membersPerPoolMax)
    this.#order = words.of(Exchange.Order, membersPerPoolMax)
    const values = this.#memory.exchange(Float64Array)
    this.#values = values.of(Exchange.Values, membersPerPoolMax * 3)
  }

  /** True when the engine itself has failed and is of no more use. */
  get isBroken(): boolean {
    return this.#isBroken
  }

  /**
   * Builds pools ahead of their questions, as far as there is room, and drops those no longer
   * named. Takes some milliseconds for a new large pool.
   *
   * @param pools as the `members` of a question.
   * @returns the kept ones
   */
  keep(pools: Iterable<string>): ReadonlySet<string> {
    const kept = new Map<string, MemoryImage>()
    let bytes = 0
    for (const members of pools) {
      const image = this.#kept.get(members) ?? this.#imageOf(members)
      if (image === undefined || kept.has(members)) continue
      bytes += image.bytes
      if (bytes > scriptLimits.keptBytesMax) break
      kept.set(members, image)
    }
    this.#kept = kept
    return new Set(kept.keys())
  }

  /** Parses a body without running it. */
  check(body: string): Result<null, ScriptFault> {
    const found = this.#guarded(never, () => {
      this.#memory.restore(this.#memory.base)
      const compiled = this.#context.evalCode(body, fileName, { type: 'global', compileOnly: true })
      return compiled.error === undefined ? undefined : this.#faultOf(compiled.error)
    })
    if (found instanceof Error) return err({ message: found.message, line: 0, column: 0 })
    return found === undefined ? ok(null) : err(found.fault)
  }

  /** @param isLate asked every ten thousand steps; true ends the run */
  run(body: string, question: ScriptQuestion, isLate: () => boolean = never): ScriptRun {
    const context = this.#context
    const run = this.#guarded(isLate, (): ScriptRun => {
      const { members, globals, seed } = question
      const image = this.#kept.get(members)
      this.#memory.restore(image ?? this.#memory.base)
      this.#write(question)
      if (image === undefined) {
        const text = context.newString(members)
        const built = context.callFunction(this.#build, context.undefined, text)
        if (built.error !== undefined) return this.#failed(built.error)
      }
      const given = [context.newString(globals), context.newNumber(seed)]
      const put = context.callFunction(this.#put, context.undefined, ...given)
      if (put.error !== undefined) return this.#failed(put.error)
      const done = context.evalCode(body, fileName, { type: 'global' })
      if (done.error !== undefined) return this.#failed(done.error)
      const read = context.callFunction(this.#read, context.undefined)
      if (read.error !== undefined) return this.#failed(read.error)
      const message = resultFaults[context.getNumber(read.value)] ?? emptyResult
      const named = this.#order.slice(0, this.#counts[Exchange.Named / 4])
      return { outcome: ScriptOutcome.Done, named, message: named.length === 0 ? message : '' }
    })
    if (!(run instanceof Error)) return run
    return { outcome: ScriptOutcome.Memory, named: nobody, message: run.message }
  }

  #write({ places, count, values }: ScriptQuestion): void {
    this.#counts[Exchange.Count / 4] = count
    this.#places.set(places.subarray(0, count))
    this.#values.set(values.subarray(0, count * 3))
  }

  /** @returns undefined when the pool alone exceeds the heap limit of a script */
  #imageOf(members: string): MemoryImage | undefined {
    const image = this.#guarded(never, () => {
      this.#memory.clear()
      const context = this.#context
      const text = context.newString(members)
      const built = context.callFunction(this.#build, context.undefined, text)
      // Values not disposed of would stay in the captured memory.
      text.dispose()
      built.dispose()
      return built.error === undefined ? this.#memory.capture() : undefined
    })
    return image instanceof Error ? undefined : image
  }

  #guarded<T>(isLate: () => boolean, work: () => T): T | Error {
    if (this.#isBroken) return new Error('the script engine has given up')
    this.#polls = 0
    this.#isLate = isLate
    try {
      // A run's handles are not disposed of: restoring the memory removes what they point to.
      return work()
    } catch (error) {
      // A fault of WebAssembly, such as the end of this thread's own stack.
      this.#isBroken = true
      return error instanceof Error ? error : new Error(String(error))
    }
  }

  #hasNoStepsLeft(): boolean {
    return this.#polls * scriptLimits.stepsPerPoll > scriptLimits.stepsMax
  }

  #failed(error: QuickJSHandle): ScriptRun {
    const { name, fault } = this.#faultOf(error)
    const outcome = outcomeOf(name, fault.message)
    const message =
      outcome === ScriptOutcome.Timeout ? this.#whyEnded() : whatWasThrown(name, fault)
    return { outcome, named: nobody, message }
  }

  #whyEnded(): string {
    return this.#hasNoStepsLeft()
      ? `it took more than ${scriptLimits.stepsMax} steps`
      : `it took more than ${scriptLimits.runMs} ms`
  }

  /** A thrown value may be anything. Inspecting it may run code, within the same limits. */
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

function whatWasThrown(name: string, { message, line }: ScriptFault): string {
  const text = [name, message].filter((part) => part !== '').join(': ')
  const where = line === 0 ? '' : ` (line ${line})`
  return `${text === '' ? 'it threw something that is no error' : text}${where}`
}

function outcomeOf(name: string, message: string): ScriptOutcome {
  if (name === 'SyntaxError') return ScriptOutcome.Syntax
  if (name !== 'InternalError') return ScriptOutcome.Exception
  if (message === 'interrupted') return ScriptOutcome.Timeout
  const isMemory = /out of memory|stack overflow|too long/.test(message)
  return isMemory ? ScriptOutcome.Memory : ScriptOutcome.Exception
}
