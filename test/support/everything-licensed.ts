// A licence that permits everything, for tests whose subject is another.
import type { LicenceGate } from '#licence/gate.ts'

export const everythingLicensed: LicenceGate = Object.freeze({
  refusal: () => undefined,
  memberLimit: () => undefined,
})
