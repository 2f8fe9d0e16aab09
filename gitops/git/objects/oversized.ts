// The error for an object that is larger than the reader accepts; the object may be sound.

/** Thrown from the header alone, before the object is inflated. */
export class Oversized extends Error {
  readonly sizeBytes: number

  constructor(sizeBytes: number) {
    super(`it has ${sizeBytes} octets`)
    this.sizeBytes = sizeBytes
  }
}
