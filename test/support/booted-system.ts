// Boots this machine's own files by systemd as another machine, whose writes stay in memory.
import { execFile, execFileSync, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { waitUntil } from './wait-until.ts'

const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C', TERM: 'dumb' }
const nspawnEnv = { ...env, SYSTEMD_NSPAWN_UNIFIED_HIERARCHY: '1' }
/** Bit of CAP_SYS_ADMIN: capability.h of Linux. */
const mayMount = 1n << 21n

/** Missing requirements to boot a system and to build an image; `undefined`: none. */
export function lackedHere(): string | undefined {
  const [, rights = '0'] = /^CapEff:\s*(\w+)/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
  if (process.getuid?.() !== 0) return 'this needs root'
  if ((BigInt(`0x${rights}`) & mayMount) === 0n) {
    return 'this needs a root that may mount: in a container, --privileged'
  }
  return lackedByMachine()
}

/** Reports a kernel without overlays or control groups, or a container that hides them. */
function lackedByMachine(): string | undefined {
  const slash = mkdtempSync(join(tmpdir(), 'gslbd-slash-'))
  const [program = '', ...args] = machineWords(slash, ['--', '/bin/true'])
  try {
    execFileSync(program, args, { env: nspawnEnv, stdio: 'pipe', timeout: 60_000 })
    return undefined
  } catch (error) {
    const { stderr, message } = error as Error & { readonly stderr?: Buffer }
    return `systemd-nspawn starts no machine: ${stderr?.toString().trim() ?? message}`
  } finally {
    rmdirSync(slash)
  }
}

/**
 * Command prefix that runs a program in a machine of this one's files. @param slash an empty
 * directory
 */
function machineWords(slash: string, rest: readonly string[]): readonly string[] {
  const nspawn = [
    ...['systemd-nspawn', '--quiet', `--directory=${slash}`, '--volatile=overlay'],
    ...['--keep-unit', '--register=no', '--link-journal=no', '--private-network'],
    ...['--console=pipe', ...rest],
  ]
  const mounted = ['sh', '-c', `mount --bind / ${slash} && exec "$@"`, 'sh', ...nspawn]
  return ['setpriv', '--pdeathsig', 'KILL', 'unshare', '--mount', ...mounted]
}

export class BootedSystem {
  readonly #nspawn: ChildProcess
  readonly #leader: number

  private constructor(nspawn: ChildProcess, leader: number) {
    this.#nspawn = nspawn
    this.#leader = leader
  }

  /**
   * @param work mounted there at /mnt, read-only; a new name below the directory for temporary
   * files
   */
  static async boot(work: string): Promise<BootedSystem> {
    const slash = join(work, 'slash')
    mkdirSync(slash)
    const [program = '', ...args] = machineWords(slash, [
      ...['--boot', `--machine=${basename(work)}`, `--bind-ro=${work}:/mnt`],
      // Boots without this machine's services.
      ...['--', '--unit=sysinit.target'],
    ])
    const child = spawn(program, args, { env: nspawnEnv, stdio: ['ignore', 'pipe', 'pipe'] })
    let said = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => (said += text))
    }
    try {
      const leader = await waitUntil('a process in the other machine', () => {
        if (child.exitCode !== null) throw new Error(`systemd-nspawn has ended: ${said}`)
        return childOf(child.pid)
      })
      const system = new BootedSystem(child, leader)
      await waitUntil('its start', async () => (await system.state('sysinit.target')) === 'active')
      return system
    } catch (error) {
      child.kill('SIGKILL')
      throw error
    }
  }

  /** Command prefix that runs a program of this machine in the other one's network. */
  get beforeInNetwork(): readonly string[] {
    return ['nsenter', `--net=/proc/${this.#leader}/ns/net`]
  }

  /**
   * @returns its output.
   * @throws when it fails, with its output
   */
  async run(...command: readonly string[]): Promise<string> {
    const enter = ['--target', String(this.#leader), '--all', ...command]
    const { stdout } = await promisify(execFile)('nsenter', enter, { env })
    return stdout.trim()
  }

  shell(script: string): Promise<string> {
    return this.run('sh', '-ec', script)
  }

  /** A property of a unit, as `systemctl show` has it. */
  property(unit: string, name: string): Promise<string> {
    return this.run('systemctl', 'show', unit, '--value', '--property', name)
  }

  state(unit: string): Promise<string> {
    return this.property(unit, 'ActiveState')
  }

  async end(): Promise<void> {
    const ended = once(this.#nspawn, 'close')
    process.kill(this.#leader, 'SIGKILL')
    await ended
  }
}

/** The process of systemd itself, below nspawn's helpers. */
function childOf(pid = 0): number | undefined {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
  return children.map(Number).find((child) => {
    const command = readFileSync(`/proc/${child}/cmdline`, 'utf8')
    return /^\/\S*\/(?:systemd|init)\0--unit=/.test(command)
  })
}
