// Parses the settings that name a Redis: its address, its Sentinels, or the nodes of a Cluster.
import { unescapedPercent } from '#lib/text/percent.ts'
import { readFileSync } from 'node:fs'
import { listedHosts } from '#state/ports/host-list.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'

export interface RedisSettings {
  /**
   * `redis://user:password@host:port/0`, or `rediss://` with TLS; several hosts with commas for
   * Sentinels or nodes of a Cluster. A secret.
   */
  readonly url: string
  /**
   * Name of the master at the Sentinels that the hosts are. Left out or empty: the hosts are no
   * Sentinels.
   */
  readonly master?: string
  /** Password of the Sentinels. A secret. Left out or empty: none. */
  readonly sentinelPassword?: string
  /** The hosts are nodes of a Cluster. */
  readonly cluster?: boolean
  /** Path of a PEM file with the trusted authorities. Left out or empty: the system's. */
  readonly ca?: string | undefined
  /** Name to verify in certificates; left out or empty: the host connected to. */
  readonly serverName?: string
}

export interface RedisPlace {
  readonly host: string
  readonly port: number
}

export interface RedisTarget {
  readonly kind: 'one' | 'sentinels' | 'cluster'
  readonly hosts: readonly RedisPlace[]
  readonly master: string
  /** '': none. */
  readonly username: string
  readonly password: string
  readonly sentinelPassword: string
  readonly database: number
  /** null: no TLS. `ca`: PEM; '': the system's authorities. */
  readonly tls: { readonly ca: string; readonly serverName: string } | null
}

const ports = { one: 6_379, sentinels: 26_379, cluster: 6_379 } as const

/** Errors: a sentence about the settings, without their values. */
export function redisTarget(settings: RedisSettings): Result<RedisTarget, string> {
  const { url, master = '', sentinelPassword = '', cluster = false, ca = '' } = settings
  const listed = /^rediss?:\/\//.test(url) ? listedHosts(url) : undefined
  const [first] = listed ?? []
  if (listed === undefined || first === undefined) return err(badForm)
  const { protocol, username, password, pathname } = new URL(first.url)
  const database = Number(pathname.slice(1))
  const name = unescapedPercent(username)
  const word = unescapedPercent(password)
  if (name === undefined || word === undefined || !/^\/?\d{0,5}$/.test(pathname))
    return err(badForm)
  const kind = cluster ? 'cluster' : master === '' ? 'one' : 'sentinels'
  if (cluster && master !== '') return err(bothKinds)
  if (kind === 'one' && listed.length > 1) return err(manyHosts)
  if (kind === 'cluster' && database !== 0) return err(clusterDatabase)
  if (protocol !== 'rediss:' && ca !== '') return err(noTls)
  const authorities = ca === '' ? ok('') : pemIn(ca)
  if (!authorities.ok) return authorities
  const withTls = { ca: authorities.value, serverName: settings.serverName ?? '' }
  const tls = protocol === 'rediss:' ? withTls : null
  const hosts = listed.map(({ host, port }) => ({ host, port: port === 0 ? ports[kind] : port }))
  const secrets = { username: name, password: word, sentinelPassword }
  return ok({ kind, hosts, master, ...secrets, database, tls })
}

const badForm = 'redis.url is not of the form redis://host:port. Mend or remove it.'
const manyHosts =
  'redis.url has several hosts: set redis.master, if they are Sentinels, or redis.cluster.'
const bothKinds = 'redis.master and redis.cluster exclude each other. Remove one of them.'
const clusterDatabase = 'redis.url names a database, and a Cluster has only 0. Write /0 or nothing.'
const noTls =
  'redis.ca is set, and redis.url begins with redis://, which is without TLS: use rediss://'

function pemIn(path: string): Result<string, string> {
  try {
    const pem = readFileSync(path, 'utf8')
    if (pem.includes('-----BEGIN CERTIFICATE-----')) return ok(pem)
    return err(`redis.ca: ${path} has no certificate in PEM.`)
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException
    return err(`redis.ca: ${path} cannot be read (${code}).`)
  }
}
