// What can only be a mistake of ours stops the program with a sentence.

/** @throws Error when `condition` is false; `sentence` says what should have held. */
export function assert(condition: boolean, sentence: string): asserts condition {
  if (!condition) throw new Error(`assertion failed: ${sentence}`)
}

/** Names the value that a total `switch` did not expect. */
export function unreachable(value: never): never {
  throw new Error(`assertion failed: unexpected value ${String(value)}`)
}
