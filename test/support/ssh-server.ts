// A real sshd of this test alone, on a free port of this machine: its own host key, one user's key.
import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createConnection } from 'node:net'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { freePort } from './free-port.ts'
import { waitUntil } from './wait-until.ts'

const program = '/usr/sbin/sshd'

export interface SshServer {
  readonly url: (gitdir: string) => string
  readonly port: number
  /** Private key that it lets in. */
  readonly keyPath: string
  /** A file with its host key. */
  readonly knownHostsPath: string
  readonly close: () => Promise<void>
}

/** @param folder for keys and settings; must not exist */
export async function sshServer(folder: string): Promise<SshServer> {
  mkdirSync(folder, { mode: 0o700 })
  // Where sshd shuts its helper in; the package's own service makes it, and only root needs it.
  if (process.getuid?.() === 0) mkdirSync('/run/sshd', { recursive: true, mode: 0o755 })
  const at = (name: string): string => join(folder, name)
  for (const name of ['host', 'client']) {
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', at(name)])
  }
  const port = await freePort()
  const settings = {
    Port: port,
    ListenAddress: '127.0.0.1',
    HostKey: at('host'),
    AuthorizedKeysFile: at('client.pub'),
    StrictModes: 'no',
    PidFile: 'none',
    UsePAM: 'no',
    PasswordAuthentication: 'no',
    PermitRootLogin: 'prohibit-password',
  }
  const lines = Object.entries(settings).map(([name, value]) => `${name} ${value}\n`)
  writeFileSync(at('config'), lines.join(''))
  const [type, key] = readFileSync(at('host.pub'), 'utf8').split(' ')
  writeFileSync(at('known_hosts'), `[127.0.0.1]:${port} ${type} ${key}\n`)
  const child = spawn(program, ['-D', '-e', '-f', at('config')], { stdio: 'ignore' })
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const close = async (): Promise<void> => {
    child.kill()
    await ended
  }
  onTestFinished(close)
  await waitUntil('sshd', () => canConnect(port))
  const { username } = userInfo()
  return {
    url: (gitdir) => `ssh://${username}@127.0.0.1:${port}${gitdir}`,
    port,
    keyPath: at('client'),
    knownHostsPath: at('known_hosts'),
    close,
  }
}

function canConnect(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ host: '127.0.0.1', port })
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}
