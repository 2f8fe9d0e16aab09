// Speaks to Git remotes over SSH and HTTP(S) by the git program, with pinned host keys, the node's
// own key or token, and no prompts. Where HTTP needs no process, none is started.
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { sha256Advice } from '#gitops/git/repository-format.ts'
import type { GitDriver } from '#gitops/git/objects/driver.ts'
import { gitLimits } from '#gitops/limits.ts'
import type { Push, SourceError } from './config-source.ts'
import { RemoteError, runGit } from './git-program.ts'
import type { GitOutcome, GitProgram, RemoteLimits } from './git-program.ts'
import { httpPush, httpRefs } from './http-git.ts'

/** The files that a node needs to reach remotes. */
export interface GitAccess {
  /** Private key for SSH, without a passphrase. */
  readonly keyPath: string
  /** Host keys that are trusted; servers with other keys are refused. */
  readonly knownHostsPath: string
  /** The PATH on which git and ssh are looked for. */
  readonly searchPath: string
  /** Certificates that HTTPS believes besides the system's: NODE_EXTRA_CA_CERTS. */
  readonly extraCasPath?: string | undefined
}

export interface Remote {
  /** Address without credentials. */
  readonly url: string
  /** `user:password` for HTTP, or ''. */
  readonly credentials: string
  readonly access: GitAccess
  readonly limits: RemoteLimits
  readonly stop: AbortSignal
}

/** Each call throws a `RemoteError`, or the file system's error. */
export interface GitTransport {
  /** Lists the refs that start with `prefix`, as the remote has them now. Moves no objects. */
  list(prefix: string): Promise<ReadonlyMap<string, string>>
  /** Fetches a ref and its history into the mirror. A fetch that fails leaves nothing there. */
  fetch(gitdir: string, ref: string): Promise<void>
  /**
   * Moves `ref` from where the push expects it.
   *
   * @returns '' when it has moved, else the server's reason
   */
  push(mirror: GitDriver, ref: string, push: Push): Promise<string>
}

export function createGitTransport(remote: Remote): GitTransport {
  const { url, access, limits, stop } = remote
  const isHttp = /^https?:/.test(url)
  const env = isHttp ? httpEnvironment(remote) : sshEnvironment(access, limits)
  const { searchPath } = access
  const protocols = protocolsOf(url)
  const program: GitProgram = { name: url, searchPath, protocols, env, limits, stop }
  const run = async (
    args: readonly string[],
    more: GitProgram['env'] = {},
  ): Promise<GitOutcome> => {
    const missing = isHttp ? undefined : missingSshFile(access, url)
    if (missing !== undefined) throw new RemoteError(missing)
    return runGit({ ...program, env: { ...env, ...more } }, args)
  }
  const check = ({ code, said }: GitOutcome): void => {
    if (code !== 0) throw new RemoteError(failureOf(said, url, access))
  }
  return {
    async list(prefix) {
      const quick = isHttp ? await httpRefs(remote, prefix) : undefined
      if (quick !== undefined) return quick
      const pattern = prefix.endsWith('/') ? `${prefix}*` : prefix
      // Runs outside any repository. What kind of server answers is only visible in the trace.
      const outcome = await run(['--git-dir=/dev/null', 'ls-remote', '--', url, pattern], {
        GIT_TRACE_PACKET: '1',
      })
      const said = outcome.said.replaceAll(/^.*packet: .*\n?/gm, '')
      check({ ...outcome, said })
      if (outcome.said === said) throw new RemoteError(failureOf(notGit, url, access))
      if (/[ <]object-format=sha256/.test(outcome.said)) {
        const reason = `${url} names its objects by SHA-256. ${sha256Advice}`
        throw new RemoteError({ code: 'ObjectFormat', reason })
      }
      const rows = outcome.out.matchAll(/^([0-9a-f]{40})\t(\S+)$/gm)
      const refs = Array.from(rows, ([, oid = '', ref = '']) => [ref, oid] as const)
      return new Map(refs.filter(([ref]) => ref.startsWith(prefix)))
    },
    async fetch(gitdir, ref) {
      const [, branch] = /^refs\/heads\/(.+)$/.exec(ref) ?? []
      const refspec = branch === undefined ? ref : `+${ref}:refs/remotes/origin/${branch}`
      const quiet = ['--no-tags', '--no-write-fetch-head', '--no-recurse-submodules', '--refmap=']
      const words = [`--git-dir=${gitdir}`, 'fetch', '--progress', ...quiet, '--', url, refspec]
      await fetchApart(gitdir, program, async (apart) => check(await run(words, apart)))
    },
    async push(mirror, ref, push) {
      const quick = isHttp ? await httpPush(remote, ref, push) : undefined
      if (quick !== undefined) return refusalOf(quick)
      const { expected, commit, objects } = push
      // git reads the objects of a push from the mirror.
      await mirror.writeObjects(objects)
      const lease = `--force-with-lease=${ref}:${expected ?? ''}`
      const quiet = ['--porcelain', '--progress', '--no-verify', '--recurse-submodules=no']
      const target = ['--', url, `${commit}:${ref}`]
      const outcome = await run([`--git-dir=${mirror.gitdir}`, 'push', ...quiet, lease, ...target])
      const refused = /^!\t\S+\t(?:\[[^\]]*\] )?\(?(.*?)\)?$/m.exec(outcome.out)?.[1]
      if (refused === undefined) check(outcome)
      return refusalOf(refused ?? '')
    },
  }
}

function refusalOf(reason: string): string {
  if (reason === '') return ''
  const refusal = `The Git server refused the commit: ${printable(reason)}.`
  // The server could not store the objects: neither the branch nor the key is to blame.
  if (reason.startsWith('unpack')) return refusal
  return (
    `${refusal} The branch may be protected, or the key or token may only read; allow it ` +
    'to push.'
  )
}

/** HTTP may redirect to HTTPS, but not back. */
function protocolsOf(url: string): readonly string[] {
  if (url.startsWith('https:')) return ['https']
  return url.startsWith('http:') ? ['http', 'https'] : ['ssh']
}

/**
 * Fetches into a folder beside the mirror, and moves the objects there when all have arrived: a
 * repack in the mirror could not tell its own unfinished files from those of a fetch.
 */
async function fetchApart(
  gitdir: string,
  { name, limits }: GitProgram,
  fetch: (apart: GitProgram['env']) => Promise<void>,
): Promise<void> {
  const apart = join(gitdir, 'arriving')
  const packs = join(apart, 'pack')
  const objects = join(gitdir, 'objects')
  rmSync(apart, { recursive: true, force: true })
  mkdirSync(packs, { recursive: true })
  try {
    await fetch({
      GIT_OBJECT_DIRECTORY: apart,
      GIT_ALTERNATE_OBJECT_DIRECTORIES: JSON.stringify(objects),
    })
    // The index is moved last: objects are visible from then on.
    const isIndex = (file: string): number => Number(file.endsWith('.idx'))
    for (const file of readdirSync(packs).toSorted((a, b) => isIndex(a) - isIndex(b))) {
      renameSync(join(packs, file), join(objects, 'pack', file))
    }
  } catch (error) {
    const sizes = readdirSync(packs).map((file) => statSync(join(packs, file)).size)
    throw Math.max(0, ...sizes) < limits.bytesMax ? error : tooLarge(name, limits)
  } finally {
    rmSync(apart, { recursive: true, force: true })
  }
}

function tooLarge(url: string, { bytesMax }: RemoteLimits): RemoteError {
  const reason =
    `The answer of ${url} is larger than ${bytesMax} bytes. The repository is too large for ` +
    'this node.'
  return new RemoteError({ code: 'TooLarge', reason })
}

/** git reports a web page without refs as an empty repository, and gives no error. */
const notGit = 'invalid server response'

/** Credentials are bound to the host of the address, also where it redirects. */
function httpEnvironment({ url, credentials, access }: Remote): GitProgram['env'] {
  const { extraCasPath } = access
  const cas =
    extraCasPath === undefined
      ? {}
      : { GIT_SSL_CAINFO: extraCasPath, GIT_SSL_CAPATH: '/etc/ssl/certs' }
  if (credentials === '') return cas
  const colon = credentials.indexOf(':')
  return {
    ...cas,
    GIT_CONFIG_COUNT: '2',
    // An empty value removes all other helpers, so that none learns the credentials.
    GIT_CONFIG_KEY_0: 'credential.helper',
    GIT_CONFIG_VALUE_0: '',
    GIT_CONFIG_KEY_1: `credential.${new URL(url).origin}.helper`,
    GIT_CONFIG_VALUE_1:
      '!say() { printf "username=%s\\npassword=%s\\n" "$GSLB_U" "$GSLB_P"; }; say',
    GSLB_U: credentials.slice(0, colon),
    GSLB_P: credentials.slice(colon + 1),
  }
}

/** Options of ssh(1) and ssh_config(5). No settings of a person or the machine are read. */
function sshEnvironment(
  { keyPath, knownHostsPath }: GitAccess,
  { idleMs }: RemoteLimits,
): GitProgram['env'] {
  const seconds = Math.max(1, Math.ceil(idleMs / 1000))
  const options = [
    'BatchMode=yes',
    'StrictHostKeyChecking=yes',
    `UserKnownHostsFile=${inOption(knownHostsPath)}`,
    'GlobalKnownHostsFile=none',
    'UpdateHostKeys=no',
    'VerifyHostKeyDNS=no',
    `IdentityFile=${inOption(keyPath)}`,
    'IdentitiesOnly=yes',
    'IdentityAgent=none',
    'PreferredAuthentications=publickey',
    `ConnectTimeout=${seconds}`,
    `ServerAliveInterval=${seconds}`,
    'ServerAliveCountMax=1',
    'ControlPath=none',
    'ClearAllForwardings=yes',
    'ForwardAgent=no',
    'PermitLocalCommand=no',
  ]
  const words = ['ssh', '-F', 'none', '-a', '-x', ...options.flatMap((option) => ['-o', option])]
  return { GIT_SSH_VARIANT: 'ssh', GIT_SSH_COMMAND: words.map(quoted).join(' ') }
}

/** Escapes a path for an ssh option: ssh splits at spaces and expands `%`. */
function inOption(path: string): string {
  return `"${path.replaceAll('%', '%%').replaceAll(/["\\]/g, '\\$&')}"`
}

/** Quotes a word for the shell. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}

/** Names a missing file: the node's own key, or the pinned keys of servers. */
export function missingSshFile(
  { keyPath, knownHostsPath }: Pick<GitAccess, 'keyPath' | 'knownHostsPath'>,
  url: string,
): SourceError | undefined {
  if (!existsSync(keyPath)) {
    const reason =
      `${url}: there is no key in ${keyPath} (gitops.sshKey). Make one without a passphrase, ` +
      `ssh-keygen -t ed25519 -N '' -f ${keyPath}, and give the Git server ${keyPath}.pub.`
    return { code: 'Unauthorized', reason }
  }
  if (existsSync(knownHostsPath)) return undefined
  return { code: 'HostKeyRefused', reason: `${url}: ${pinAdvice(knownHostsPath)}` }
}

function installAdvice(program: 'git' | 'ssh'): string {
  const name = program === 'git' ? 'git' : 'openssh-client'
  return `The program ${program} is not on the PATH of gslbd. Install it: apt-get install ${name}.`
}

function pinAdvice(path: string): string {
  return (
    `put the line of the server's host key into ${path} (gitops.knownHosts). ssh-keyscan prints ` +
    'it; compare its fingerprint with what the operator of the server says.'
  )
}

type Failure = readonly [
  says: RegExp,
  code: SourceError['code'],
  advice: (parts: GitAccess) => string,
]

const sha256Sentence = `It names its objects by SHA-256. ${sha256Advice}`

/**
 * Messages of git and ssh, and their meaning. Messages of ssh come first, since git repeats them in
 * vaguer words.
 */
const failures: readonly Failure[] = [
  [
    /^(?:error|fatal): .*(?:unable to create|insufficient permission|read-only file system)/im,
    'Unreadable',
    () => 'Check the disk of the data directory, and the owner and mode of what is in it.',
  ],
  [/mismatched algorithms|repository's object format/i, 'ObjectFormat', () => sha256Sentence],
  [
    /host identification has changed|host key verification failed|host key is known for/i,
    'HostKeyRefused',
    ({ knownHostsPath }) =>
      `Its host key is not one that is believed. If it is the right server, ${pinAdvice(knownHostsPath)}`,
  ],
  [
    /permission denied \(|unprotected private key|load key|too many authentication failures/i,
    'Unauthorized',
    ({ keyPath }) =>
      `It did not let the key ${keyPath} (gitops.sshKey) in. Give the server its public half, ` +
      'with the right to read, and to push where the API writes; the file must be for its owner only.',
  ],
  [
    /authentication failed|could not read (username|password)|returned error: 40[13]/i,
    'Unauthorized',
    () =>
      'The credentials are missing or not accepted (401 or 403). Set GSLB_GITOPS_URL to ' +
      'https://user:token@host/… with a token that may read the repository, and push where the API writes.',
  ],
  [/returned error: 429/, 'TooManyRequests', () => 'It is asked too often. Raise gitops.poll.'],
  [/returned error: 5\d\d/, 'ServerError', () => 'The Git server has a problem of its own.'],
  [
    /is this a git repository|invalid server response|returned error: \d|bad line length/i,
    'NotGit',
    () =>
      'It does not answer as a Git server does. Check gitops.url: it may be a web page, or need a login.',
  ],
  [/git: not found|exec: git|not a git command/i, 'ConnectionFailed', () => installAdvice('git')],
  [/cannot run ssh|ssh: not found/i, 'ConnectionFailed', () => installAdvice('ssh')],
  [/timed out|timeout, server/i, 'Timeout', () => 'Check the network and the Git server.'],
  [
    /could not resolve/i,
    'ConnectionFailed',
    () => 'Check the host in gitops.url and the DNS of this machine.',
  ],
  [
    /connection (refused|closed|reset)|to connect|no route|unreachable|kex_|empty reply/i,
    'ConnectionFailed',
    () => 'Check that the Git server runs, and host and port in gitops.url.',
  ],
  [
    /certificate/i,
    'ConnectionFailed',
    () => 'If its authority is your own, name that in NODE_EXTRA_CA_CERTS.',
  ],
  [
    /not appear to be a git repository|not found/i,
    'NotFound',
    () => 'Check the path in gitops.url, and what the key or token may see.',
  ],
  [/no space left|disk quota/i, 'DiskFull', () => 'Make room on the disk of the data directory.'],
  [
    /file size limit|file too large|signal 25|out of memory/i,
    'TooLarge',
    () => 'The repository is too large for this node.',
  ],
  [
    /could not read from remote|unable to access|broken pipe|hung up|early eof|disconnect/i,
    'ConnectionFailed',
    () => 'Look at the Git server.',
  ],
]

function failureOf(said: string, url: string, access: GitAccess): SourceError {
  const found = failures.find(([says]) => says.test(said))
  const reason = `${url}: ${detailOf(said)}`
  if (found === undefined) return { code: 'Unreadable', reason }
  const [, code, advice] = found
  return { code, reason: `${reason} ${advice(access)}` }
}

/** More of a line is not looked at: it may be a server's. */
const lineCharsMax = 1_000

/** The lines that name the cause, without progress and without frames of banners. */
function detailOf(said: string): string {
  const lines = said
    .split(/[\r\n]+/)
    .map((line) => line.slice(0, lineCharsMax))
    .filter((line) => /\S/.test(line) && !/^(remote:|@@)/.test(line))
  const telling = lines.filter((line) => failures.some(([says]) => says.test(line)))
  const [first = lines.at(-1) ?? 'git ended without a word'] = telling
  const words = first.replaceAll(/^[\s@]+|[\s@]+$/g, '')
  const line = printable(words.replace(/^fatal: (unable to access '.*?': )?/, ''))
  return /[.!]$/.test(line) ? line : `${line}.`
}

/** Replaces control characters: a server's message must not steer a terminal. */
function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, '?').slice(0, gitLimits.remoteWordsMax)
}
