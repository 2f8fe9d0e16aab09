// Writes redirects as server blocks to a file that nginx includes; a command reloads nginx.
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeDurably } from '#lib/durable-file.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { baseOf, patternOf } from './rule.ts'
import type { PushedRedirect } from './rule.ts'
import { changesOf } from './target.ts'
import type { RedirectTarget } from './target.ts'

interface NginxSettings {
  readonly configDir: string
  readonly configFile: string
  readonly listen: readonly string[]
  readonly reloadCommand: string
}

const nginxLimits = {
  reloadMs: 30_000,
  outputCharactersMax: 1_000,
  fileBytesMax: 512_000_000,
} as const

const head = '# Written by gslbd, and written again when it is changed here.\n'

export function createNginx(
  settings: NginxSettings,
  reloadMs: number = nginxLimits.reloadMs,
): RedirectTarget {
  const path = join(settings.configDir, settings.configFile)
  // Unknown after a start or a failure: whether nginx has read the file.
  let isRead = false
  return {
    name: 'nginx',
    look: async (wanted) => {
      const current = read(path)
      if (!current.ok) return current
      const skipped = wanted.filter(isUnsafe)
      const written = wanted.filter((one) => !isUnsafe(one))
      const text = head + written.map((one) => blockOf(one, settings.listen)).join('')
      const isSame = current.value === text
      const blocks = blocksIn(current.value)
      const changes = changesOf(
        written,
        blocks,
        (one, block) => block === blockOf(one, settings.listen),
      )
      const rest = { verb: 'update' as const, mark: '', what: 'the order of the blocks' }
      return ok({
        changes: isSame || changes.length > 0 || text === head ? changes : [rest],
        skipped: skipped.map(({ mark }) => ({ mark, reason: unsafeReason })),
        isPending: !isRead || !isSame,
        apply: async (signal) => {
          isRead = false
          if (!isSame) {
            const written = write(path, text)
            if (!written.ok) return written
          }
          const reloaded = await run(settings.reloadCommand, reloadMs, signal)
          isRead = reloaded.ok
          return reloaded
        },
      })
    },
  }
}

const unsafeReason = 'its host or target has characters that mean something to nginx'

/** Checked again here, though the compiler refuses such texts: they go to another server's file. */
function isUnsafe({ host, target }: PushedRedirect): boolean {
  return /[^a-z0-9._-]/.test(host) || /[\s;{}#"'\\\u0000-\u001f\u007f-\uffff]/.test(target)
}

function blockOf(one: PushedRedirect, listen: readonly string[]): string {
  // A dollar sign would begin a variable.
  const target = baseOf(one).replaceAll('$', '%24') + (one.preservePath ? '$request_uri' : '')
  return [
    `# ${one.mark}`,
    'server {',
    ...listen.map((where) => `    listen ${where};`),
    `    server_name ${patternOf(one)};`,
    `    return ${one.code} ${target};`,
    '}',
    '',
  ].join('\n')
}

/** Blocks of the file by mark. */
function blocksIn(text: string): ReadonlyMap<string, string> {
  const blocks = new Map<string, string>()
  for (const block of text.split(/^(?=# svc-redirect-)/m)) {
    const [, mark] = /^# (svc-redirect-\S+)\n/.exec(block) ?? []
    if (mark !== undefined) blocks.set(mark, block)
  }
  return blocks
}

function read(path: string): Result<string, string> {
  try {
    return ok(readFileSync(path, 'utf8'))
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    return code === 'ENOENT' ? ok('') : err(`${path} cannot be read: ${code ?? message}`)
  }
}

function write(path: string, text: string): Result<null, string> {
  try {
    writeDurably(path, text)
    return ok(null)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    return err(`${path} cannot be written: ${code ?? message}`)
  }
}

/** Runs without a shell, with a time limit; the output is shown on failure. */
function run(
  command: string,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Result<null, string>> {
  const [program = '', ...args] = command.trim().split(/\s+/)
  return new Promise((resolve) => {
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    const note = (chunk: Buffer): void => {
      if (output.length < nginxLimits.outputCharactersMax) output += chunk.toString('utf8')
    }
    child.stdout.on('data', note)
    child.stderr.on('data', note)
    let late = false
    const end = (): void => {
      late = true
      child.kill('SIGKILL')
      // Child processes of nginx may hold the output open.
      child.stdout.destroy()
      child.stderr.destroy()
    }
    const timer = setTimeout(end, timeoutMs)
    signal.addEventListener('abort', end, { once: true })
    const done = (result: Result<null, string>): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve(result)
    }
    child.on('error', ({ code, message }: NodeJS.ErrnoException) => {
      done(err(`"${command}" cannot be run: ${code ?? message}`))
    })
    child.on('close', (code, killedBy) => {
      const said = output.slice(0, nginxLimits.outputCharactersMax).replaceAll(/\s+/g, ' ').trim()
      if (late) done(err(`"${command}" did not end within ${timeoutMs / 1000} s, and was ended`))
      else if (code === 0) done(ok(null))
      else done(err(`"${command}" ended with ${code ?? killedBy}: ${said}`))
    })
  })
}
