// Part: takes in the zones that come from other servers.
import { randomInt } from 'node:crypto'
import { join } from 'node:path'
import { InboundZones } from '#import/inbound/inbound-zones.ts'
import type { Given, Outcome } from '#node/parts/part.ts'
import type { Has } from '#node/parts/part-outputs.ts'
import { systemClock } from '#lib/clock.ts'
import { Random } from '#lib/random.ts'
import { ok } from '#lib/result.ts'
import { systemAfter } from '#lib/timer.ts'
import { createZoneContacts } from '#state/file/zone-contacts.ts'

/** Started after the Git side, since what comes in is written as commits. */
export const followZones = (
  have: Given & Has<'gitops' | 'dynamicDns' | 'shared'>,
): Outcome<Has<'inbound'>> => {
  const { settings, gitops, dynamicDns, log } = have
  const contactsPath = join(settings.dataDir, 'zone-contacts.json')
  const inbound = new InboundZones({
    ...{ config: gitops.config, write: gitops.write },
    findKey: (name) => dynamicDns.find(name),
    contacts: createZoneContacts(contactsPath, { log, after: systemAfter, clock: systemClock }),
    shared: have.shared.zoneContacts,
    ...{ clock: systemClock, after: systemAfter, log },
    random: new Random(randomInt(0x1_0000_0000)),
  })
  inbound.start()
  return ok({ gives: { inbound }, stop: () => inbound.stop() })
}
