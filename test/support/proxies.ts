// A caddy and an nginx for a test: private ports, restarted on the same ones.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { freePort } from './free-port.ts'
import { openSocket } from './raw-http.ts'
import { waitUntil } from './wait-until.ts'

export interface Proxy {
  readonly port: number
  /** Caddy's. */
  readonly adminUrl: string
  /** A command that makes nginx read its files. */
  readonly reload: string
  readonly output: () => string
  readonly start: () => Promise<void>
  readonly stop: () => Promise<void>
}

const path = { PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin` }

class Program {
  readonly #start: () => ChildProcess
  readonly #port: number
  #child: ChildProcess | undefined
  text = ''

  constructor(port: number, start: () => ChildProcess) {
    this.#port = port
    this.#start = start
    onTestFinished(() => this.stop())
  }

  async start(): Promise<void> {
    const child = this.#start()
    this.#child = child
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk: Buffer) => (this.text += chunk.toString('utf8')))
    }
    await waitUntil(`port ${this.#port}`, async () => {
      if (child.exitCode !== null) throw new Error(this.text)
      const socket = await openSocket(this.#port).catch(() => undefined)
      socket?.destroy()
      return socket !== undefined
    })
  }

  async stop(): Promise<void> {
    const child = this.#child
    this.#child = undefined
    if (child === undefined || child.exitCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    await ended
  }
}

/** @param foreign routes that are not ours */
export async function makeCaddy(directory: string, foreign: readonly object[]): Promise<Proxy> {
  const [port, adminPort] = [await freePort(), await freePort()]
  const admin = `127.0.0.1:${adminPort}`
  const file = join(directory, 'caddy.json')
  const server = {
    listen: [`127.0.0.1:${port}`],
    routes: foreign,
    automatic_https: { disable: true },
  }
  writeFileSync(
    file,
    JSON.stringify({ admin: { listen: admin }, apps: { http: { servers: { edge: server } } } }),
  )
  const home = { ...path, HOME: directory, XDG_DATA_HOME: directory, XDG_CONFIG_HOME: directory }
  const program = new Program(port, () => spawn('caddy', ['run', '--config', file], { env: home }))
  return {
    port,
    adminUrl: `http://${admin}`,
    reload: '',
    output: () => program.text,
    start: () => program.start(),
    stop: () => program.stop(),
  }
}

/** It includes `conf.d/*.conf` below the directory. */
export async function makeNginx(directory: string): Promise<Proxy> {
  const port = await freePort()
  const conf = join(directory, 'nginx.conf')
  mkdirSync(join(directory, 'conf.d'), { recursive: true })
  writeFileSync(
    conf,
    `daemon off; pid ${directory}/nginx.pid; error_log ${directory}/error.log; worker_processes 1;
     events { worker_connections 64; }
     http { access_log off; server_names_hash_max_size 8192; server_names_hash_bucket_size 128;
       client_body_temp_path ${directory}/b; proxy_temp_path ${directory}/p;
       fastcgi_temp_path ${directory}/f; uwsgi_temp_path ${directory}/u;
       scgi_temp_path ${directory}/s;
       server { listen 127.0.0.1:${port} default_server; return 404; }
       include ${directory}/conf.d/*.conf; }`,
  )
  const program = new Program(port, () => spawn('nginx', ['-c', conf], { env: path }))
  return {
    port,
    adminUrl: '',
    reload: `/usr/sbin/nginx -c ${conf} -s reload`,
    output: () => program.text,
    start: () => program.start(),
    stop: () => program.stop(),
  }
}
