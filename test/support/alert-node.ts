// A node of a cluster with alerts only, as a process that a test can kill. Argument 1 is the
// address of the database, 2 its name. The pool of the file in argument 3 has no members while that
// file exists.
import { existsSync } from 'node:fs'
import { AlertKeeper } from '#alerts/cluster/alert-keeper.ts'
import { createSender } from '#alerts/send-by-channel.ts'
import { askSystem } from '#alerts/send/open-addresses.ts'
import { systemClock } from '#lib/clock.ts'
import { Random } from '#lib/random.ts'
import { networksOf } from '#routing/tables/network-list.ts'
import { createPersistent } from '#state/persistent.ts'
import { healthyFacts } from './alerts.ts'

const [, , url = '', node = '', fault = ''] = process.argv
const silent = { info: () => {}, warn: () => {}, error: () => {} }
const opened = await createPersistent({ url, dataDir: '', clock: systemClock })
if (!opened.ok) throw new Error(opened.error)
const pool = { uid: 'p1', name: 'web', tenant: 'acme', members: 1 }
const keeper = new AlertKeeper({
  store: opened.value.alerts,
  isThere: () => true,
  isAlone: false,
  node,
  holder: `${node}/${process.pid}`,
  facts: {
    ...healthyFacts,
    commit: () => 'c1',
    emptyPools: () => (existsSync(fault) ? [pool] : []),
  },
  settings: { geoMaxAgeMs: 1, expiryWarningMs: 0, diskFreeMinPercent: 0, groupWaitMs: 0 },
  send: createSender({
    secretKey: Buffer.alloc(32, 7),
    way: { lookUp: askSystem, allowed: networksOf(['127.0.0.1']) },
    log: silent,
  }),
  clock: systemClock,
  random: new Random(process.pid),
  log: silent,
})
let isEnded = false
process.once('SIGTERM', () => (isEnded = true))
let wasLeading = false
while (!isEnded) {
  await keeper.look()
  const { isLeading } = keeper.status()
  if (isLeading !== wasLeading) process.stdout.write(isLeading ? 'leads\n' : 'follows\n')
  wasLeading = isLeading
  await new Promise((resolve) => setTimeout(resolve, 200))
}
await keeper.stop()
await opened.value.close()
