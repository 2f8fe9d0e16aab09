// What all nodes share and may be forgotten: in Redis, or in the memory of this process.
import { systemClock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import type { Result } from '#lib/result.ts'
import { createEphemeral } from '#state/ephemeral.ts'
import type { EphemeralState } from '#state/ephemeral.ts'
import type { Settings } from '#cli/settings/settings.ts'

/** What all keys of this program in Redis begin with. */
const prefix = 'gslbd:'

/** Errors: a sentence that names the setting. A Redis that is away is no error. */
export function openEphemeralState({ redis }: Settings, log: Log): Result<EphemeralState, string> {
  return createEphemeral({ url: redis.url, prefix, clock: systemClock, log })
}
