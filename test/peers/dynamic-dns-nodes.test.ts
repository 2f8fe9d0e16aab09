// TSIG keys and TXT records on several nodes that share a PostgreSQL database.
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startDynamicDns } from '#node/compose/dynamic-dns.ts'
import type { NodeDynamicDns } from '#node/compose/dynamic-dns.ts'
import { createNodeState } from '#node/stores/state.ts'
import { systemClock } from '#lib/clock.ts'
import { ok } from '#lib/result.ts'
import { seal } from '#lib/secret-box.ts'
import { silentLog } from '#test/support/api-ports.ts'
import { startPostgres } from '#test/support/postgres-server.ts'
import type { PostgresServer } from '#test/support/postgres-server.ts'
import { valueOf } from '#test/support/store-values.ts'
import { makeTempDir, removeTempDir } from '#test/support/temp-dir.ts'
import { waitUntil } from '#test/support/wait-until.ts'
import { wireName } from '#test/support/dns/wire-name.ts'

const secretKey = Buffer.alloc(32, 7)
const env = { GSLB_SECRET_KEY: secretKey.toString('hex') }
const wire = wireName('k.example.')
const key = {
  ...{ id: 'k', tenantId: 'acme', name: 'k.example.', algorithm: 'hmac-sha256.', scope: null },
  ...{ secretCiphertext: seal(secretKey, Buffer.alloc(32).toString('base64')), createdAtMs: 1 },
}
const add = (text: string) => ({
  ...{ verb: 'add' as const, name: 'a.example.', type: 16, ttlSeconds: 60 },
  rdata: Buffer.from(`${String.fromCharCode(text.length)}${text}`).toString('base64'),
})

/** Nothing calls its `look`: what it knows of others came by notice. */
async function startNode({ url }: PostgresServer, directory: string): Promise<NodeDynamicDns> {
  const state = createNodeState({
    ...{ dataDir: directory, databaseUrl: url, clock: systemClock },
    prepare: async () => ok(undefined),
  })
  const settings = { dataDir: directory, database: { url } }
  const started = await startDynamicDns({
    ...{ settings, env, state, clock: systemClock, log: silentLog },
  })
  if (!started.ok) throw new Error(started.error)
  onTestFinished(async () => {
    await started.value.stop()
    await state.close()
  })
  started.value.follow()
  return started.value
}

const recordsOf = ({ dynamicDns }: NodeDynamicDns): number =>
  dynamicDns.snapshot().records.flatMap(({ rrsets }) => rrsets[0]!.values).length

test('a node hears of what another one writes, also after the database was away', async () => {
  const server = await startPostgres()
  const directory = makeTempDir('dynamic-nodes')
  onTestFinished(async () => {
    removeTempDir(directory)
    await server.stop()
  })
  const here = await startNode(server, join(directory, 'here'))
  const there = await startNode(server, join(directory, 'there'))
  await waitUntil('both', () => here.dynamicDns.isKnown() && there.dynamicDns.isKnown())
  await valueOf(here.dynamicDns.createKey(key))
  await waitUntil('the key', () => there.dynamicDns.find(wire) !== undefined)
  await valueOf(here.dynamicDns.apply('k', [add('one')]))
  await waitUntil('the record', () => recordsOf(there) === 1)
  expect(there.dynamicDns.snapshot()).toEqual(here.dynamicDns.snapshot())

  await server.kill()
  await server.start()
  const second = async (): Promise<boolean> => (await here.dynamicDns.apply('k', [add('two')])).ok
  await waitUntil('the database', second)
  await waitUntil('the second record', () => recordsOf(there) === 2)

  await valueOf(there.dynamicDns.deleteKey('every-tenant', 'k'))
  await waitUntil('the deletion', () => here.dynamicDns.find(wire) === undefined)
})
