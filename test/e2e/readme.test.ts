// README.md and the page of a first zone as a stranger reads them: every block, in its order, in a
// fresh copy of the repository.
import { execFileSync, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { freePort } from '#test/support/free-port.ts'
import { freshCopy } from '#test/support/fresh-copy.ts'
import { tempDir } from '#test/support/temp-dir.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const root = join(import.meta.dirname, '../..')
/** Limits for one block, and for all, which take a minute on a machine at rest. */
const blockMs = 180_000
const patienceMs = 900_000

/** Read in this order, each in a terminal of its own. */
const pages = ['README.md', 'docs/operations/first-zone.md'] as const

interface Block {
  readonly kind: 'shell' | 'file'
  /** Where a file belongs. */
  readonly path: string
  readonly text: string
}

/** In their order: what is set in by four blanks, and what is fenced. */
function blocksOf(page: string): Block[] {
  const found = page.matchAll(/^```(.*)\n([^]*?)^```$|(?:^ {4}.*\n(?:\n(?= {4}))?)+/gm)
  return [...found].map(([whole, language, fenced = '']) => {
    if (language === undefined)
      return { kind: 'shell', path: '', text: whole.replaceAll(/^ {4}/gm, '') }
    const [, path] = /^# (\S+\.yaml)\n/.exec(fenced) ?? []
    if (language !== 'yaml' || path === undefined)
      throw new Error(`a block that nobody can run:\n${whole}`)
    return { kind: 'file', path, text: fenced }
  })
}

/** What does not end by itself. */
const isNode = ({ text }: Block): boolean => /\b(npm start|gslbd serve)\b/.test(text)

/** A terminal: a shell that keeps its variables, and ends at the first fault unless told not to. */
class Terminal {
  readonly #shell: ChildProcess
  readonly #folder: string
  #said = ''
  #count = 0

  constructor(cwd: string, env: NodeJS.ProcessEnv) {
    this.#folder = tempDir('blocks')
    this.#shell = spawn('bash', ['--noprofile', '--norc', '-e'], {
      cwd,
      env,
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    for (const stream of [this.#shell.stdout!, this.#shell.stderr!]) {
      stream.setEncoding('utf8').on('data', (text: string) => (this.#said += text))
    }
    onTestFinished(() => void this.#shell.kill('SIGKILL'))
  }

  /** @returns what the block has written */
  async run(text: string): Promise<string> {
    const file = join(this.#folder, `${++this.#count}.sh`)
    writeFileSync(file, text)
    const mark = `<block ${this.#count} is done>`
    const before = this.#said.length
    this.#shell.stdin!.write(`. ${file}\necho "${mark}"\n`)
    const since = (): string => this.#said.slice(before)
    await waitUntil(
      `the end of:\n${text}\nIt said:\n`,
      () => since().includes(mark) || this.#shell.exitCode !== null,
      { timeoutMs: blockMs },
    )
    if (!since().includes(mark)) throw new Error(`this block fails:\n${text}\n${since()}`)
    return since().split(mark)[0] ?? ''
  }
}

/** The first terminal: a node at a time, ended as Ctrl-C ends it. */
class NodeTerminal {
  #node: ChildProcess | undefined
  readonly #cwd: string
  readonly #env: NodeJS.ProcessEnv

  constructor(cwd: string, env: NodeJS.ProcessEnv) {
    this.#cwd = cwd
    this.#env = env
    onTestFinished(() => this.stop('SIGKILL'))
  }

  async start(text: string): Promise<void> {
    await this.stop('SIGINT')
    const options = { cwd: this.#cwd, env: this.#env, detached: true } as const
    const node = spawn('bash', ['--noprofile', '--norc', '-ec', text], options)
    this.#node = node
    let said = ''
    for (const stream of [node.stdout, node.stderr]) {
      stream.setEncoding('utf8').on('data', (words: string) => (said += words))
    }
    const runs = /gslbd answers DNS on|gslbd is running/
    await waitUntil(`${text} to run`, () => runs.test(said) || node.exitCode !== null, {
      timeoutMs: blockMs,
    })
    if (!runs.test(said)) throw new Error(`${text} ended:\n${said}`)
  }

  async stop(signal: NodeJS.Signals): Promise<void> {
    const node = this.#node
    if (node?.pid === undefined || node.exitCode !== null || node.signalCode !== null) return
    const closed = once(node, 'close')
    process.kill(-node.pid, signal)
    await closed
  }
}

test(
  'every block of README.md and of the first zone runs, in order, in a fresh copy',
  async () => {
    const copy = tempDir('readme')
    freshCopy(copy)
    const [dns, api, backends] = [await freePort(), await freePort(), await freePort()]
    for (const path of [
      'cli/commands/start.ts',
      'examples/quickstart/tenants/default/pools/web.yaml',
    ])
      writeFileSync(
        join(copy, path),
        readFileSync(join(copy, path), 'utf8').replaceAll('8081', `${backends}`),
      )
    const onFreePorts = (text: string): string =>
      text
        .replace('npm ci && npm start', `npm start -- --dns-port ${dns} --api-port ${api}`)
        .replaceAll(/\b5353\b/g, `${dns}`)
        .replaceAll(/\b8080\b/g, `${api}`)
    const home = tempDir('home')
    const env = { PATH: process.env['PATH'], HOME: home, GIT_CONFIG_NOSYSTEM: '1', LC_ALL: 'C' }
    const nodes = new NodeTerminal(copy, env)

    const said: string[] = []
    const follow = async (page: string): Promise<void> => {
      const terminal = new Terminal(copy, env)
      await terminal.run('exec 2>&1\n')
      for (const block of blocksOf(readFileSync(join(copy, page), 'utf8'))) {
        const text = onFreePorts(block.text)
        if (block.kind === 'file') {
          // The settings stand beside the clone, all others in it.
          const folder = block.path.startsWith('own/') ? copy : join(copy, 'own/config')
          const path = join(folder, block.path)
          mkdirSync(dirname(path), { recursive: true })
          writeFileSync(path, text)
        } else if (isNode(block)) await nodes.start(text)
        else said.push(await terminal.run(text))
      }
    }
    for (const page of pages) await follow(page)
    await nodes.stop('SIGINT')

    expect(said[0]).toMatch(/^127\.0\.0\.1[123]$/m)
    const all = said.join('\n')
    expect(all).toMatch(/"sync":"synced"/)
    expect(all).toMatch(/^www\.example\.com\.\s+7\s+IN\s+A\s+127\.0\.0\.1[123]$/m)
    expect(all).toContain('Good "git" signature for node@gslbd')
    expect(all.match(/^192\.0\.2\.10$/gm)?.length).toBeGreaterThanOrEqual(1)
    expect(all.match(/^answer +198\.51\.100\.10, TTL/gm)).toHaveLength(2)
    expect(said.at(-1)).toMatch(/^192\.0\.2\.20$/m)
    expect(all).not.toMatch(/"error":|command not found|No such file/)
  },
  patienceMs,
)

test(
  'no block changes the repository around it where the clones fail',
  async () => {
    const around = tempDir('around')
    symlinkSync(join(root, 'bin'), join(around, 'bin'))
    const home = tempDir('home')
    const env = { PATH: process.env['PATH'], HOME: home, GIT_CONFIG_NOSYSTEM: '1', LC_ALL: 'C' }
    const git = (...args: string[]): string =>
      execFileSync('git', ['-C', around, ...args], { env, encoding: 'utf8' })
    git('init', '-q', '-b', 'work')
    writeFileSync(join(around, 'mine'), 'as committed')
    git('add', '-A')
    const person = ['-c', 'user.name=ann', '-c', 'user.email=ann@example.com']
    git(...person, 'commit', '-qm', 'mine')
    // In the way of the clones, as if somebody had unpacked them there.
    for (const path of ['my-config/tenants/default/services', 'own/config']) {
      mkdirSync(join(around, path), { recursive: true })
    }
    writeFileSync(join(around, 'my-config/tenants/default/services/www.yaml'), 'ttl: 5')
    writeFileSync(join(around, 'own/config/gslb.yaml'), 'mine')
    writeFileSync(join(around, 'mine'), 'being changed')
    // The person may have named themselves, so that commits anywhere would be made.
    for (const [key, value] of [
      ['user.name', 'ann'],
      ['user.email', 'ann@example.com'],
    ] as const) {
      execFileSync('git', ['config', '--global', key, value], { env })
    }
    const state = (): string[] => [
      git('log', '--all', '--format=%H %D'),
      git('config', '--local', '--list'),
      git('diff', '--cached', '--name-only'),
    ]
    const before = state()
    const terminal = new Terminal(around, env)
    await terminal.run('exec 2>&1\nset +e\n')
    const said: string[] = []
    const blocks = pages.flatMap((page) => blocksOf(readFileSync(join(root, page), 'utf8')))
    for (const { kind, text } of blocks) {
      if (kind === 'file' || !/^ *git /m.test(text)) continue
      // There is no node to wait for, and the program changes no repository.
      const alone = text.replaceAll(/^(until|mkdir|bin|\.\.|curl|dig|post|pool=|sed).*\n/gm, '')
      said.push(await terminal.run(alone))
    }
    expect(said.join('\n')).toMatch(/fatal: (repository|destination path)/)
    expect(state()).toEqual(before)
  },
  patienceMs,
)
