// An object that says of itself that it is larger than the reader takes: nothing is wrong with it.

/** Thrown before the object is inflated. */
export class Oversized extends Error {
  readonly sizeBytes: number

  constructor(sizeBytes: number) {
    super(`it has ${sizeBytes} octets`)
    this.sizeBytes = sizeBytes
  }
}
