// Opens stored bundles for sending: a limited number at once, each by its own descriptor.
import { closeSync, createReadStream, fstatSync, openSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { assert } from '#lib/assert.ts'
import { fleetLimits } from './limits.ts'

interface OpenBundleFile {
  readonly bytes: number
  /** @param end the last octet, inclusive */
  readonly read: (start: number, end: number) => Readable
  readonly close: () => void
}

export class BundleFiles {
  readonly #pathOf: (digest: string) => string
  readonly #transfersMax: number
  #open = 0
  #turnedAway = 0

  constructor(pathOf: (digest: string) => string, transfersMax: number = fleetLimits.transfersMax) {
    this.#pathOf = pathOf
    this.#transfersMax = transfersMax
  }

  /** @returns undefined: the bundle is absent, or cannot be read */
  open(digest: string): OpenBundleFile | 'busy' | undefined {
    return this.openPath(this.#pathOf(digest))
  }

  /** Opens a file that was made from a bundle. */
  openPath(path: string): OpenBundleFile | 'busy' | undefined {
    if (this.#open >= this.#transfersMax) {
      this.#turnedAway++
      return 'busy'
    }
    let fd: number
    try {
      fd = openSync(path, 'r')
    } catch {
      return undefined
    }
    this.#open++
    assert(this.#open <= this.#transfersMax, 'transfers are within their limit')
    let isOpen = true
    const release = (): void => {
      if (isOpen) this.#open--
      isOpen = false
    }
    return {
      bytes: fstatSync(fd).size,
      read: (start, end) => createReadStream('', { fd, start, end }).once('close', release),
      close: () => {
        closeSync(fd)
        release()
      },
    }
  }

  counts(): { readonly open: number; readonly turnedAway: number } {
    return { open: this.#open, turnedAway: this.#turnedAway }
  }
}
