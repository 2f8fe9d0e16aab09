// yadifad as a secondary server: transfers of a name with many addresses, and NOTIFY.
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Notifier } from '#zones/notify/notifier.ts'
import { ask } from '#test/support/dns/client.ts'
import { servicesConfig } from '#test/support/dns/many-addresses.ts'
import { startNode } from '#test/support/dns/node.ts'
import type { RunningNode } from '#test/support/dns/node.ts'
import { notifierOf, startSecondary } from '#test/support/dns/secondary.ts'
import type { Secondary } from '#test/support/dns/secondary.ts'
import { testKey, testSecret } from '#test/support/dns/signed.ts'
import { freePort } from '#test/support/free-port.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const zone = 'many.example.'
const withAddresses = (v6: number) => servicesConfig({ [zone]: { v4: 0, v6 } })
const id = 'key.example.'
const key = { ...testKey(id), id, scope: null, mayTransfer: true }

let node: RunningNode
let secondary: Secondary
beforeAll(async () => {
  const transfers = { enabled: true, requireTsig: true, allow: [] }
  node = await startNode(withAddresses(101), { transfers })
  node.node.setKeys([key])
  secondary = startSecondary('yadifa', {
    ...{ zone, port: await freePort(), primaryPort: node.port },
    key: { name: id, secret: testSecret.toString('base64') },
  })
})
afterAll(async () => {
  await secondary?.stop()
  await node?.stop()
})

const addresses = async (): Promise<number> => {
  const { answer } = await ask(secondary, `www.${zone} AAAA`, { tcp: true })
  return answer.length
}

/**
 * NOTIFY until it serves so many: 7 of 40 starts of yadifad 2.6.4 with a node as its primary began
 * no first transfer, and a NOTIFY that comes while it transfers is forgotten as well.
 */
async function notifyUntilServed(count: number, notifier: Notifier): Promise<void> {
  const isServed = async (): Promise<boolean> => {
    if ((await addresses()) === count) return true
    notifier.changed()
    return false
  }
  await waitUntil(`${count} addresses`, isServed, { intervalMs: 3_000 })
}

test('transfers the zone with 101 addresses of a name', async () => {
  const notifier = notifierOf(secondary.port, [zone], key)
  try {
    await notifyUntilServed(101, notifier)
  } finally {
    notifier.stop()
  }
})

test('takes a NOTIFY, and answers NOTAUTH to one of a zone that it does not have', async () => {
  const refused: object[] = []
  const zones = [zone, 'other.example.']
  const notifier = notifierOf(secondary.port, zones, key, (fields) => refused.push(fields))
  try {
    await node.serve(withAddresses(2))
    await notifyUntilServed(2, notifier)
    await waitUntil('the refusal', () => refused.length > 0)
    expect(refused).toMatchObject([
      { zone: 'other.example.', reason: expect.stringMatching(/^NOTAUTH/) as string },
    ])
  } finally {
    notifier.stop()
  }
})
