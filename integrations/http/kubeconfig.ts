// Finds how to reach a Kubernetes API: by a kubeconfig file, or as the account of a pod.
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { promisify } from 'node:util'
import { parse } from 'yaml'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { httpLimits } from './json-client.ts'
import type { JsonRequest } from './json-client.ts'

export interface KubernetesAccess {
  /** Without a slash at its end. */
  readonly server: string
  /** Asked before each request: tokens in files change. @throws why there are none, for people */
  readonly credentials: (signal: AbortSignal) => Promise<Pick<JsonRequest, 'headers' | 'tls'>>
}

/** What Kubernetes puts into each pod. */
const podAccount = '/var/run/secrets/kubernetes.io/serviceaccount'
const fileBytesMax = 1_048_576

type Fields = Readonly<Record<string, unknown>>

/**
 * @param path empty: the account of the pod
 * @param env of programs that make credentials, and what tells a pod its API
 * @returns what serves for a few minutes: a program that makes credentials is run once. Errors: a
 *   sentence without a word of the file
 */
export function kubernetesAccess(
  path: string,
  env: NodeJS.ProcessEnv,
  account: string = podAccount,
): Result<KubernetesAccess, string> {
  const place = path === '' ? 'the account of the pod' : path
  try {
    return ok(path === '' ? ofPod(env, account) : ofFile(path, env))
  } catch (error) {
    // The lines after the first are those of the file, which has secrets.
    const [reason = ''] = (error as Error).message.split('\n')
    return err(`${place} cannot be used: ${reason.slice(0, httpLimits.shownCharactersMax)}`)
  }
}

function ofPod(env: NodeJS.ProcessEnv, account: string): KubernetesAccess {
  const { KUBERNETES_SERVICE_HOST: host = '', KUBERNETES_SERVICE_PORT: port = '443' } = env
  if (host === '') throw new Error('KUBERNETES_SERVICE_HOST is not set, so this is no pod')
  const ca = readText(`${account}/ca.crt`)
  return {
    server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    credentials: () => {
      const headers = bearer(readText(`${account}/token`))
      return Promise.resolve({ headers, tls: { ca } })
    },
  }
}

function ofFile(path: string, env: NodeJS.ProcessEnv): KubernetesAccess {
  const config = fieldsOf(parse(readText(path)))
  const context = named(config, 'context', textIn(config, 'current-context'))
  const cluster = named(config, 'cluster', textIn(context, 'cluster'))
  const user = textIn(context, 'user') === '' ? {} : named(config, 'user', textIn(context, 'user'))
  for (const key of ['auth-provider', 'as', 'proxy-url']) {
    if (key in user || key in cluster) throw new Error(`${key} is not known here`)
  }
  const server = textIn(cluster, 'server').replace(/\/$/, '')
  if (!/^https?:$/.test(URL.parse(server)?.protocol ?? '')) throw new Error('it has no server')
  const folder = dirname(path)
  /** As text in base64, or in a file that is named from the folder of this one; '': neither. */
  const pem = (fields: Fields, key: string): string => {
    const data = textIn(fields, `${key}-data`)
    const file = textIn(fields, key)
    if (data !== '') return Buffer.from(data, 'base64').toString()
    return file === '' ? '' : readText(resolve(folder, file))
  }
  const ca = pem(cluster, 'certificate-authority')
  const servername = textIn(cluster, 'tls-server-name')
  const base = {
    ...(ca && { ca }),
    ...(servername && { servername }),
    ...(cluster['insecure-skip-tls-verify'] === true ? { rejectUnauthorized: false } : {}),
  }
  let made: Promise<ExecCredential> | undefined
  const exec = async (signal: AbortSignal): Promise<ExecCredential> =>
    'exec' in user ? execCredential(fieldsOf(user['exec']), folder, env, signal) : {}
  return {
    server,
    credentials: async (signal) => {
      const given = await (made ??= exec(signal))
      const cert = given.clientCertificateData ?? pem(user, 'client-certificate')
      const key = given.clientKeyData ?? pem(user, 'client-key')
      const file = textIn(user, 'tokenFile')
      const token =
        given.token ?? (file === '' ? textIn(user, 'token') : readText(resolve(folder, file)))
      const name = textIn(user, 'username')
      const login = Buffer.from(`${name}:${textIn(user, 'password')}`).toString('base64')
      const headers =
        token !== '' ? bearer(token) : name === '' ? {} : { authorization: `Basic ${login}` }
      return { headers, tls: { ...base, ...(cert && { cert }), ...(key && { key }) } }
    },
  }
}

interface ExecCredential {
  readonly token?: string
  readonly clientCertificateData?: string
  readonly clientKeyData?: string
}

/** Runs the program of a cloud that makes credentials (client.authentication.k8s.io). */
async function execCredential(
  exec: Fields,
  folder: string,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<ExecCredential> {
  const command = textIn(exec, 'command')
  const args = listIn(exec, 'args').map(String)
  const own = listIn(exec, 'env').map(fieldsOf)
  const info = {
    apiVersion: exec['apiVersion'],
    kind: 'ExecCredential',
    spec: { interactive: false },
  }
  try {
    const { stdout } = await promisify(execFile)(
      command.includes('/') ? resolve(folder, command) : command,
      args,
      {
        ...{ signal, timeout: httpLimits.timeoutMs, maxBuffer: fileBytesMax },
        env: {
          ...env,
          ...Object.fromEntries(own.map((one) => [textIn(one, 'name'), textIn(one, 'value')])),
          KUBERNETES_EXEC_INFO: JSON.stringify(info),
        },
      },
    )
    return fieldsOf(fieldsOf(JSON.parse(stdout))['status'])
  } catch (error) {
    // Its words may have secrets.
    const { code = 'it says no JSON' } = error as { readonly code?: number | string }
    throw new Error(`${command} of the kubeconfig has failed: ${code}`, { cause: error })
  }
}

function readText(path: string): string {
  const text = readFileSync(path, 'utf8')
  if (text.length > fileBytesMax) throw new Error(`${path} has more than ${fileBytesMax} octets`)
  return text
}

const bearer = (token: string) => ({ authorization: `Bearer ${token.trim()}` })

const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}

const listIn = (fields: Fields, key: string): readonly unknown[] => {
  const value = fields[key]
  return Array.isArray(value) ? (value as readonly unknown[]) : []
}

function textIn(fields: Fields, key: string): string {
  const value = fields[key]
  return typeof value === 'string' ? value : ''
}

/** The item of a list such as `clusters`, of which each has a name. */
function named(config: Fields, kind: 'cluster' | 'context' | 'user', name: string): Fields {
  const found = listIn(config, `${kind}s`)
    .map(fieldsOf)
    .find((item) => item['name'] === name)
  if (found === undefined) throw new Error(`it has no ${kind} "${name}"`)
  return fieldsOf(found[kind])
}
