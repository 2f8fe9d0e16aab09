// A real sshd for one test, on a free port of this machine: its own host key, one user's key.
import { execFileSync, spawn } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
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
  /** The accepted private key. */
  readonly keyPath: string
  /** A file with its host key. */
  readonly knownHostsPath: string
  readonly close: () => Promise<void>
}

/**
 * @param folder for the server's files; must not exist
 * @param clientFolder for the client's; must not exist
 */
export async function sshServer(folder: string, clientFolder: string): Promise<SshServer> {
  for (const path of [folder, clientFolder]) mkdirSync(path, { mode: 0o700 })
  // The chroot of sshd's helper, which the package's service makes; only root needs it.
  if (process.getuid?.() === 0) mkdirSync('/run/sshd', { recursive: true, mode: 0o755 })
  const at = (name: string): string => join(folder, name)
  const keyPath = join(clientFolder, 'key')
  for (const path of [at('host'), keyPath]) {
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', path])
  }
  copyFileSync(`${keyPath}.pub`, at('authorized'))
  const knownHostsPath = join(clientFolder, 'known_hosts')
  const port = await freePort()
  const settings = {
    Port: port,
    ListenAddress: '127.0.0.1',
    HostKey: at('host'),
    AuthorizedKeysFile: at('authorized'),
    StrictModes: 'no',
    PidFile: 'none',
    UsePAM: 'no',
    PasswordAuthentication: 'no',
    PermitRootLogin: 'prohibit-password',
  }
  const lines = Object.entries(settings).map(([name, value]) => `${name} ${value}\n`)
  writeFileSync(at('config'), lines.join(''))
  const [type, key] = readFileSync(at('host.pub'), 'utf8').split(' ')
  writeFileSync(knownHostsPath, `[127.0.0.1]:${port} ${type} ${key}\n`)
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
    keyPath,
    knownHostsPath,
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
