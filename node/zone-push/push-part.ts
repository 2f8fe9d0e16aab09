// Part: pushes zones to other servers. A job runs its looks.
import { randomUUID } from 'node:crypto'
import { ZonePushes } from '#node/zone-push/zone-pushes.ts'
import { systemClock } from '#lib/clock.ts'
import { ok } from '#lib/result.ts'
import type { Given, Outcome } from '#node/parts/part.ts'
import type { HasDynamicDns, HasNode, HasRecords, HasZonePushes } from '#node/parts/part-outputs.ts'

type Needs = Given & HasRecords & HasDynamicDns & HasNode

export const pushZones = (have: Needs): Outcome<HasZonePushes> => {
  const { settings, records, dynamicDns, node, health, env, log } = have
  if (Object.keys(settings.zonePush.targets).length === 0)
    return ok({ gives: { zonePushes: null } })
  const zonePushes = new ZonePushes({
    ...{ settings: settings.zonePush, store: records.state.persistent.zonePushes },
    ...{ bundle: () => node.bundle(), written: dynamicDns.texts, env, log },
    verdictOf: (uid, address) => health?.verdictOf(uid, address),
    ...{ node: settings.state.nodeName, instance: randomUUID(), clock: systemClock },
  })
  return ok({ gives: { zonePushes }, stop: () => zonePushes.stop() })
}
