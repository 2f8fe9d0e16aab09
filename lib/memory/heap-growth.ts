// Sets how far the heap of a process grows before V8 collects all garbage.
import { setFlagsFromString } from 'node:v8'

/** V8 applies the flag to a running process, too. */
const flag = '--heap-growing-percent='

export const growthFlags = { sooner: `${flag}100`, later: `${flag}50` } as const

/**
 * Limits the heap to twice its live size, where V8 permits four times: for commands that make much
 * garbage and end. Costs some hundredths of CPU time. Applies to the whole process.
 */
export function collectSooner(): void {
  setFlagsFromString(growthFlags.sooner)
}

/**
 * Lets heaps grow by half, where V8 permits a tenth to those that grow slowly: for a thread that
 * holds much and makes little garbage again and again. V8 weighs its pauses alone: with 20,000
 * objects it may collect at every fourth write, which takes its helper thread 0.15 s of CPU.
 * Applies to the whole process.
 */
export function collectLater(): void {
  setFlagsFromString(growthFlags.later)
}
