// Git over SSH with the git program: a pinned host key, one key of the node's own, no prompts.
import { existsSync } from 'node:fs'
import { sha256Advice } from '#gitops/git/repository-format.ts'
import { gitLimits } from '#gitops/limits.ts'
import type { SourceError } from './config-source.ts'
import { runGit } from './git-program.ts'
import type { GitOutcome, GitProgram } from './git-program.ts'
import { RemoteError, sha256Remote } from './http-client.ts'
import type { HttpLimits } from './http-client.ts'
import type { RemoteTransport } from './remote-transport.ts'

/** What a node needs for SSH remotes. */
export interface SshAccess {
  /** Private key, without a passphrase. */
  readonly keyPath: string
  /** Host keys that are believed; others are not. */
  readonly knownHostsPath: string
  /** Where git and ssh are looked for. */
  readonly searchPath: string
}

export interface SshRemote {
  readonly url: string
  readonly access: SshAccess
  readonly limits: HttpLimits
  readonly stop: AbortSignal
}

export function createSshTransport({ url, access, limits, stop }: SshRemote): RemoteTransport {
  const { searchPath } = access
  const program: GitProgram = {
    name: url,
    searchPath,
    sshCommand: sshCommand(access, limits),
    limits,
    stop,
  }
  const run = async (...args: string[]): Promise<GitOutcome> => {
    const missing = missingSshFile(access, url)
    if (missing !== undefined) throw new RemoteError(missing)
    return runGit(program, args)
  }
  const check = ({ code, said }: GitOutcome): void => {
    if (code !== 0) throw new RemoteError(failureOf(said, url, access))
  }
  return {
    async list(prefix) {
      const pattern = prefix.endsWith('/') ? `${prefix}*` : prefix
      const outcome = await run('ls-remote', '--', url, pattern)
      check(outcome)
      if (/^[0-9a-f]{64}\t/m.test(outcome.out)) throw sha256Remote(url)
      const rows = outcome.out.matchAll(/^([0-9a-f]{40})\t(\S+)$/gm)
      const refs = Array.from(rows, ([, oid = '', ref = '']) => [ref, oid] as const)
      return new Map(refs.filter(([ref]) => ref.startsWith(prefix)))
    },
    async fetch(gitdir, ref) {
      const [, branch] = /^refs\/heads\/(.+)$/.exec(ref) ?? []
      const refspec = branch === undefined ? ref : `+${ref}:refs/remotes/origin/${branch}`
      const quiet = ['--no-tags', '--no-write-fetch-head', '--no-recurse-submodules', '--refmap=']
      check(await run(`--git-dir=${gitdir}`, 'fetch', '--progress', ...quiet, '--', url, refspec))
    },
    async push(mirror, ref, { expected, commit, objects }) {
      // git sends what it finds there.
      await mirror.writeObjects(objects)
      const lease = `--force-with-lease=${ref}:${expected ?? ''}`
      const quiet = ['--porcelain', '--progress', '--no-verify', '--recurse-submodules=no']
      const target = ['--', url, `${commit}:${ref}`]
      const outcome = await run(`--git-dir=${mirror.gitdir}`, 'push', ...quiet, lease, ...target)
      const refusal = /^!\t\S+\t(.*)$/m.exec(outcome.out)?.[1]
      if (refusal === undefined) check(outcome)
      if (refusal === undefined) return ''
      return (
        `The Git server refused the commit: ${printable(refusal)}. The branch may be protected, ` +
        'or the key may only read; allow it to push.'
      )
    },
  }
}

/** ssh(1) and ssh_config(5); no file of settings is read, neither a person's nor the machine's. */
function sshCommand({ keyPath, knownHostsPath }: SshAccess, { idleMs }: HttpLimits): string {
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
  return words.map(quoted).join(' ')
}

/** For ssh, which splits at spaces and puts something in place of `%`. */
function inOption(path: string): string {
  return `"${path.replaceAll('%', '%%').replaceAll(/["\\]/g, '\\$&')}"`
}

/** For the shell. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}

/** The node's own key, and the pinned keys of servers. */
export function missingSshFile(
  { keyPath, knownHostsPath }: Omit<SshAccess, 'searchPath'>,
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

function pinAdvice(path: string): string {
  return (
    `put the line of the server's host key into ${path} (gitops.knownHosts). ssh-keyscan prints ` +
    'it; compare its fingerprint with what the operator of the server says.'
  )
}

type Failure = readonly [
  says: RegExp,
  code: SourceError['code'],
  advice: (parts: SshAccess) => string,
]

const sha256Sentence = `It names its objects by SHA-256. ${sha256Advice}`

/** In this order: what ssh says comes before what git makes of it. */
const failures: readonly Failure[] = [
  [/mismatched algorithms|repository's object format/i, 'ObjectFormat', () => sha256Sentence],
  [
    /host identification has changed|host key verification failed|host key is known for/i,
    'HostKeyRefused',
    ({ knownHostsPath }) =>
      `Its host key is not one that is believed. If it is the right server, ${pinAdvice(knownHostsPath)}`,
  ],
  [
    /permission denied|unprotected private key|load key|too many authentication failures/i,
    'Unauthorized',
    ({ keyPath }) =>
      `It did not let the key ${keyPath} (gitops.sshKey) in. Give the server its public half, ` +
      'with the right to read, and to push where the API writes; the file must be for its owner only.',
  ],
  [/git: not found|exec: git/i, 'ConnectionFailed', () => 'The program git is not installed here.'],
  [/cannot run ssh|ssh: not found/i, 'ConnectionFailed', () => 'The program ssh is not installed.'],
  [/timed out|timeout, server/i, 'Timeout', () => 'Check the network and the Git server.'],
  [
    /could not resolve/i,
    'ConnectionFailed',
    () => 'Check the host in gitops.url and the DNS of this machine.',
  ],
  [
    /connection (refused|closed|reset)|no route|unreachable|kex_exchange|broken pipe/i,
    'ConnectionFailed',
    () => 'Check that the SSH server runs, and host and port in gitops.url.',
  ],
  [
    /not appear to be a git repository|not found/i,
    'NotFound',
    () => 'Check the path in gitops.url, and what the key may see.',
  ],
  [/no space left|disk quota/i, 'DiskFull', () => 'Make room on the disk of the data directory.'],
  [
    /file size limit|file too large|signal 25/i,
    'TooLarge',
    () => 'The repository is too large for this node.',
  ],
  [/could not read from remote/i, 'ConnectionFailed', () => 'Look at the Git server.'],
]

function failureOf(said: string, url: string, access: SshAccess): SourceError {
  const found = failures.find(([says]) => says.test(said))
  const reason = `${url}: ${detailOf(said)}`
  if (found === undefined) return { code: 'Unreadable', reason }
  const [, code, advice] = found
  return { code, reason: `${reason} ${advice(access)}` }
}

/** The lines that say what happened: progress and the frames of banners are left out. */
function detailOf(said: string): string {
  const lines = said
    .split(/[\r\n]+/)
    .filter((line) => /\S/.test(line) && !/^(remote:|@@)/.test(line))
  const telling = lines.filter((line) => failures.some(([says]) => says.test(line)))
  const [first = lines.at(-1) ?? 'git ended without a word'] = telling
  const line = printable(first.replaceAll(/^[\s@]+|[\s@]+$/g, ''))
  return /[.!]$/.test(line) ? line : `${line}.`
}

/** What a server says must not steer a terminal. */
function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, '?').slice(0, gitLimits.remoteWordsMax)
}
