// Redis and Valkey as people run them: with TLS and users, behind Sentinels, and as a Cluster. Real
// servers; the one that takes writes is killed, and another one takes its place.
import { execFileSync, spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { systemClock } from '#lib/clock.ts'
import { createEphemeral } from '#state/ephemeral.ts'
import type { EphemeralState } from '#state/ephemeral.ts'
import type { RedisSettings } from '#state/redis/target.ts'
import { freePort } from '#test/support/free-port.ts'
import { redisCli, redisProducts, startRedis } from '#test/support/redis-server.ts'
import type { RedisOptionList, RedisProduct, RedisServer } from '#test/support/redis-server.ts'
import { valueOf } from '#test/support/store-values.ts'
import { startPassage } from '#test/support/tcp-passage.ts'
import { tempDir } from '#test/support/temp-dir.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const patient = { timeoutMs: 30_000 } as const
const hashOf = (n: number): string => `${n}`.padStart(64, '0')
const ann = { userId: 'ann', tenantId: 'acme', role: 'viewer', createdAtMs: 0 }
const hour = 3_600_000

async function started(
  product: RedisProduct,
  more: (directory: string) => RedisOptionList,
): Promise<RedisServer> {
  const server = await startRedis('always', more, product)
  onTestFinished(server.stop)
  return server
}

function node(settings: RedisSettings, log: string[] = []): EphemeralState {
  const write = (fields: object, message: string): void => {
    log.push(`${message} ${JSON.stringify(fields)}`)
  }
  const created = createEphemeral({
    redis: settings,
    ...{ prefix: 'gslbd:', clock: systemClock, commandTimeoutMs: 10_000 },
    log: { info: write, warn: write, error: write },
  })
  if (!created.ok) throw new Error(created.error)
  onTestFinished(created.value.close)
  return created.value
}

const isUp = (state: EphemeralState) =>
  waitUntil('Redis', () => state.status().state === 'up', patient)
const isAway = (state: EphemeralState, word: string) =>
  waitUntil(`Redis to be away: ${word}`, () => state.status().fault?.includes(word), patient)
const isKnown = async (state: EphemeralState, n: number): Promise<boolean> =>
  (await valueOf(state.sessions.find(hashOf(n), null))) !== null
const begin = (state: EphemeralState, n: number) =>
  valueOf(state.sessions.create(hashOf(n), ann, hour))

/** A certificate for 127.0.0.1 that is its own authority. @returns the paths of both files */
function certificate(directory: string): { readonly cert: string; readonly key: string } {
  const [cert, key] = [join(directory, 'cert.pem'), join(directory, 'key.pem')]
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  const names = ['-subj', '/CN=redis', '-addext', 'subjectAltName=IP:127.0.0.1,DNS:redis.test']
  const files = ['-days', '2', '-out', cert, '-keyout', key]
  execFileSync('openssl', ['req', '-x509', ...kind, ...names, ...files], { stdio: 'ignore' })
  return { cert, key }
}

describe.each(redisProducts)('%s', (product) => {
  const redis = (more: (directory: string) => RedisOptionList): Promise<RedisServer> =>
    started(product, more)

  test('with TLS and a user who may only what the page of stores says', async () => {
    const home = tempDir('redis-tls')
    const { cert, key } = certificate(home)
    const other = certificate(tempDir('redis-other'))
    const aclfile = join(home, 'users.acl')
    const rights = 'resetchannels &gslbd:* ~gslbd:* +@all -@admin -@dangerous'
    writeFileSync(
      aclfile,
      `user default on nopass ~* &* +@all\nuser gslbd on >p@ss/word ${rights}\n` +
        'user mute on >p@ss/word resetchannels ~gslbd:* +@all\n',
    )
    const tlsPort = await freePort()
    await redis(() => ({
      ...{ 'tls-port': tlsPort, 'tls-cert-file': cert, 'tls-key-file': key },
      ...{ 'tls-ca-cert-file': cert, 'tls-auth-clients': 'no', aclfile },
    }))
    const url = (user: string): string => `rediss://${user}:p%40ss%2Fword@127.0.0.1:${tlsPort}/0`
    const log: string[] = []
    const [a, b] = [
      node({ url: url('gslbd'), ca: cert }, log),
      node({ url: url('gslbd'), ca: cert }),
    ]
    await Promise.all([isUp(a), isUp(b)])
    expect(log).toEqual([`Redis is reached. {"address":"127.0.0.1:${tlsPort}"}`])
    await begin(a, 1)
    expect(await isKnown(b, 1)).toBe(true)
    expect(await valueOf(b.sessions.revokeUser('ann'))).toBe(1)
    const named = node({ url: url('gslbd'), ca: cert, serverName: 'redis.test' })
    await isUp(named)
    // Each fault has its word, and the log says where; neither says the password.
    const faults: string[] = []
    await isAway(node({ url: url('gslbd'), ca: other.cert }, faults), 'SELF_SIGNED')
    await isAway(node({ url: url('gslbd'), ca: cert, serverName: 'x.test' }, faults), 'ALTNAME')
    await isAway(node({ url: url('nobody'), ca: cert }, faults), 'WRONGPASS')
    await isAway(node({ url: `redis://127.0.0.1:${tlsPort}` }, faults), 'not reached')
    expect(faults.join()).not.toContain('p@ss')
    expect(faults.filter((line) => !line.includes(`"address":"127.0.0.1:${tlsPort}"`))).toEqual([])
  })

  test('behind Sentinels: the master is killed, the replica takes its place', async () => {
    const master = await redis(() => ({ requirepass: 'word', masterauth: 'word' }))
    const replica = await redis(() => ({
      ...{ requirepass: 'word', masterauth: 'word', replicaof: `127.0.0.1 ${master.port}` },
    }))
    const sentinelPort = await startSentinel(product, master.port)
    const nobody = await freePort()
    const log: string[] = []
    const settings = {
      // The first Sentinel is away.
      url: `redis://:word@127.0.0.1:${nobody},127.0.0.1:${sentinelPort}/0`,
      master: 'ours',
      sentinelPassword: 'sentinel-word',
    }
    const [a, b] = [node(settings, log), node(settings)]
    await Promise.all([isUp(a), isUp(b)])
    expect(log.at(-1)).toContain(`"address":"127.0.0.1:${master.port}"`)
    await begin(a, 1)
    await waitUntil('the copy', async () => {
      return Number(await redisCli(replica.port, '-a', 'word', '--no-auth-warning', 'DBSIZE')) > 0
    })
    const reaches = ({ port }: RedisServer) =>
      waitUntil('the other one', () =>
        log.at(-1)?.includes(`reached. {"address":"127.0.0.1:${port}"`),
      )
    const follows = (copy: RedisServer) =>
      waitUntil('the copy', async () => {
        const copied = await sentinelSays(sentinelPort, 'REPLICAS')
        return copied.includes(`${copy.port}`) && /master-link-status\s+ok/.test(copied)
      })
    // A Sentinel that does not know a good replica yet refuses the next command.
    await follows(replica)
    // An operator changes their places: the master is there, and takes no writes.
    await sentinelSays(sentinelPort, 'FAILOVER')
    await waitUntil('the failover', async () => {
      await a.sessions.create(hashOf(3), ann, hour)
      return (await sentinelSays(sentinelPort, 'GET-MASTER-ADDR-BY-NAME')).includes(
        `${replica.port}`,
      )
    })
    await waitUntil('a write', async () => (await a.sessions.create(hashOf(3), ann, hour)).ok)
    await reaches(replica)
    await follows(master)
    await replica.kill()
    await isAway(a, 'Redis')
    await begin(a, 2)
    await Promise.all([isUp(a), isUp(b)])
    await reaches(master)
    // What was replicated is there, and so is what began meanwhile.
    await waitUntil('both sessions', async () => (await isKnown(b, 1)) && (await isKnown(b, 2)))
    await hears(a, b)
    const wrong = node({ ...settings, master: 'theirs' })
    await isAway(wrong, 'NOMASTER')
  })

  test('one address that leads to another server: the old one is given up', async () => {
    const master = await redis(() => ({}))
    const replica = await redis(() => ({ replicaof: `127.0.0.1 ${master.port}` }))
    let { port } = master
    const passage = await startPassage(() => port)
    onTestFinished(passage.stop)
    const url = `redis://127.0.0.1:${passage.port}`
    const [a, b] = [node({ url }), node({ url })]
    await Promise.all([isUp(a), isUp(b)])
    await begin(a, 1)
    await hears(a, b)
    await waitUntil('the copy', async () => Number(await redisCli(replica.port, 'DBSIZE')) > 0)
    // As a fail-over with a proxy does it that ends no connection.
    await redisCli(replica.port, 'REPLICAOF', 'NO', 'ONE')
    await redisCli(master.port, 'REPLICAOF', '127.0.0.1', `${replica.port}`)
    await Promise.all([isAway(a, 'READONLY'), isAway(b, 'READONLY')])
    port = replica.port
    await Promise.all([isUp(a), isUp(b)])
    await begin(a, 2)
    expect([await isKnown(b, 1), await isKnown(b, 2)]).toEqual([true, true])
    await hears(a, b)
  })

  test('as a Cluster: the owner of our keys is killed, its replica takes its place', async () => {
    const options = { 'cluster-enabled': 'yes', 'repl-diskless-sync-delay': 0 }
    const nodes: RedisServer[] = []
    for (let i = 0; i < 6; i++) nodes.push(await redis(() => options))
    const places = nodes.map(({ port }) => `127.0.0.1:${port}`)
    await redisCli(
      nodes[0]!.port,
      ...['--cluster', 'create', ...places, '--cluster-replicas', '1', '--cluster-yes'],
    )
    for (const { port } of nodes) {
      await waitUntil('the Cluster', async () =>
        (await redisCli(port, 'CLUSTER', 'INFO')).includes('cluster_state:ok'),
      )
    }
    const log: string[] = []
    const settings = { url: `redis://${places.join()}`, cluster: true }
    const [a, b] = [node(settings, log), node(settings)]
    await Promise.all([isUp(a), isUp(b)])
    await begin(a, 1)
    // The one that has them says so before it takes them, for a moment.
    await waitUntil('the session', async () => await isKnown(b, 1))
    await hears(a, b)
    const portIn = (line = ''): number => Number(/127\.0\.0\.1:(\d+)/.exec(line)?.[1])
    const owner = nodes.find(({ port }) => port === portIn(log.at(-1)))!
    // Its replica has all that it has.
    const count = await redisCli(owner.port, 'DBSIZE')
    const others = nodes.filter((one) => one !== owner)
    const replica = await waitUntil('the copy', async () => {
      for (const one of others) if ((await redisCli(one.port, 'DBSIZE')) === count) return one
      return undefined
    })
    await owner.kill()
    await isAway(a, 'Redis')
    // The Cluster would do so by itself, when its masters have found time to agree.
    await redisCli(replica.port, 'CLUSTER', 'FAILOVER', 'TAKEOVER')
    await Promise.all([isUp(a), isUp(b)])
    expect(portIn(log.at(-1))).toBe(replica.port)
    await waitUntil('the session', async () => await isKnown(b, 1))
    await begin(a, 2)
    await waitUntil('the next one', async () => await isKnown(b, 2))
    await hears(a, b)
  }, 180_000)
})

/** What one publishes reaches the other on the Redis that takes writes now. */
async function hears(a: EphemeralState, b: EphemeralState): Promise<void> {
  let heard = 0
  const off = b.peerHealth.subscribe(() => heard++)
  await waitUntil('the word', async () => {
    await a.peerHealth.publish({ node: 'a', changed: [], withdrawn: [], atMs: 0 })
    return heard > 0
  })
  off()
}

async function startSentinel(product: RedisProduct, masterPort: number): Promise<number> {
  const port = await freePort()
  const file = join(tempDir('sentinel'), 'sentinel.conf')
  writeFileSync(
    file,
    `port ${port}\nbind 127.0.0.1\nrequirepass sentinel-word\n` +
      `sentinel monitor ours 127.0.0.1 ${masterPort} 1\nsentinel auth-pass ours word\n` +
      'sentinel down-after-milliseconds ours 1000\nsentinel failover-timeout ours 1000\n',
  )
  const child = spawn(`${product}-server`, [file, '--sentinel'], { stdio: 'ignore' })
  onTestFinished(() => void child.kill('SIGKILL'))
  await waitUntil('the Sentinel to know the replica', async () => {
    const known = await sentinelSays(port, 'REPLICAS').catch(() => '')
    return known.includes('master-link-status') && known.includes('ok')
  })
  return port
}

const sentinelSays = (port: number, verb: string): Promise<string> =>
  redisCli(port, '-a', 'sentinel-word', '--no-auth-warning', 'SENTINEL', verb, 'ours')
