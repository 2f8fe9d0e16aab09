// Assertions: a broken invariant of this program throws, with a sentence that names it.

/** @throws Error when `condition` is false; `sentence` says what should have held. */
export function assert(condition: boolean, sentence: string): asserts condition {
  if (!condition) throw new Error(`assertion failed: ${sentence}`)
}

/** Reports a value that a `switch` over all cases did not expect. */
export function unreachable(value: never): never {
  throw new Error(`assertion failed: unexpected value ${String(value)}`)
}
