// Measures redirects per second of CPU time: the listener and nginx with the same map, in turns in
// one run.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rawHttp } from '#test/support/raw-http.ts'
import { waitUntil } from '#test/support/wait-until.ts'
import { fixed, mib } from './report.ts'
import type { BenchContext, Figure, Report } from './report.ts'
import { freePort } from './servers/free-port.ts'
import { cpuPerQuery, cpuTime, residentBytes } from './support/process-cpu.ts'
import { ask, nodeFlags, startProgram, versionOf } from './servers/program.ts'
import type { Program } from './servers/program.ts'
import { median, range } from './support/statistics.ts'

const rules = 100_000
const connections = 64
const cores = { server: 0, client: 1 } as const
const serverFile = fileURLToPath(new URL('./servers/serve-redirects.ts', import.meta.url))

interface Server {
  readonly name: string
  readonly port: number
  readonly program: Program
  /** 0: not known separately. */
  readonly tableBytes: number
}

interface Run {
  readonly requests: number
  readonly perSecond: number
  /** Requests per second of CPU time. */
  readonly perCore: number
}

export async function runRedirects(context: BenchContext): Promise<Report> {
  const { isQuick, directory, say } = context
  const [turns, seconds] = isQuick ? [1, 1] : [5, 5]
  const script = join(directory, 'hosts.lua')
  writeFileSync(script, hostsScript)
  const servers = [await startListener(), await startNginx(directory)]
  try {
    const runs = new Map<Server, Run[]>(servers.map((server) => [server, []]))
    for (let turn = 0; turn <= turns; turn++) {
      for (const server of servers) {
        const run = await measure(server, script, seconds)
        // The first run warms up the compiler.
        if (turn > 0) runs.get(server)!.push(run)
        say(`${server.name}: ${fixed(run.perCore, 0)} for a second of CPU time`)
      }
    }
    return reportOf(runs, isQuick)
  } finally {
    for (const { program } of servers) await program.stop()
  }
}

function reportOf(runs: ReadonlyMap<Server, readonly Run[]>, isQuick: boolean): Report {
  const figures: Record<string, Figure> = {}
  const rows = [...runs].map(([server, list]) => {
    const perCore = list.map((run) => run.perCore)
    const n = list.reduce((sum, { requests }) => sum + requests, 0)
    figures[`redirects.${server.name}.cpu`] = { value: 1e6 / median(perCore), unit: 'µs', n }
    return [
      server.name,
      fixed(median(perCore), 0),
      range(perCore, 0),
      fixed(median(list.map((run) => run.perSecond)), 0),
      mib(residentBytes(server.program.pid).now),
      server.tableBytes === 0 ? '-' : mib(server.tableBytes),
      String(n),
    ]
  })
  const table = {
    title: `Redirects of ${rules} hosts, ${connections} connections that stay open`,
    columns: ['server', 'per core', 'min-max', 'requests/s', 'RSS MiB', 'table MiB', 'requests'],
    rows,
    notes: [
      `median of ${isQuick ? 1 : 5} turns; each server has one core, wrk another, hosts at random`,
      'per core: requests in a second of CPU time, all threads, kernel time included',
      'RSS of gslbd: a process that has made these rules as well; what is answered from is the table',
      versionOf('nginx', ['-v'], /nginx\/\S+/),
    ],
  }
  return { tables: [table], figures }
}

/** Random, but the same for both servers. */
const hostsScript = `math.randomseed(1)
request = function()
  local host = "h" .. math.random(0, ${rules - 1}) .. ".old.example"
  return "GET /some/path?with=query HTTP/1.1\\r\\nHost: " .. host .. "\\r\\n\\r\\n"
end
`

async function measure(server: Server, script: string, seconds: number): Promise<Run> {
  const before = cpuTime(server.program.pid)
  const wrk = startProgram(
    'wrk',
    ['-t1', `-c${connections}`, `-d${seconds}`, '-s', script, `http://127.0.0.1:${server.port}/`],
    { core: cores.client },
  )
  const code = await wrk.ended
  const [, count = '0'] = /(\d+) requests in/.exec(wrk.output()) ?? []
  const requests = Number(count)
  if (code !== 0 || requests === 0) throw new Error(`wrk (${code}): ${wrk.errors()}`)
  const bad = /Non-2xx or 3xx responses: \d+|Socket errors: .*/.exec(wrk.output())?.[0]
  if (bad !== undefined) throw new Error(`${server.name}: ${bad}`)
  const { totalMicros } = cpuPerQuery(before, cpuTime(server.program.pid), requests)
  const [, perSecond = '0'] = /Requests\/sec:\s+([\d.]+)/.exec(wrk.output()) ?? []
  return { requests, perSecond: Number(perSecond), perCore: 1e6 / totalMicros }
}

async function startListener(): Promise<Server> {
  const args = [...nodeFlags, serverFile, String(rules)]
  const program = startProgram(process.execPath, args, { core: cores.server, hasChannel: true })
  const { port, tableBytes } = await ask<{ port: number; tableBytes: number }>(program)
  await redirects(port, '/99999/')
  return { name: 'gslbd', port, program, tableBytes }
}

async function startNginx(directory: string): Promise<Server> {
  const port = await freePort()
  const home = join(directory, 'nginx')
  mkdirSync(home)
  const hosts = Array.from(
    { length: rules },
    (_, i) => `h${i}.old.example https://new.example/${i};`,
  )
  writeFileSync(join(home, 'map'), hosts.join('\n'))
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  writeFileSync(
    join(home, 'nginx.conf'),
    `daemon off; pid ${home}/pid; error_log ${home}/error.log; worker_processes 1;
     events { worker_connections 1024; }
     http { access_log off; keepalive_requests 100000000; map_hash_max_size 262144;
       ${temporary.map((name) => `${name}_temp_path ${home}/${name};`).join(' ')}
       map $host $target { include ${home}/map; }
       server { listen 127.0.0.1:${port}; if ($target = "") { return 404; }
         return 301 $target$request_uri; } }`,
  )
  const program = startProgram('nginx', ['-c', join(home, 'nginx.conf')], { core: cores.server })
  await redirects(port, '/99999/')
  return { name: 'nginx', port, program, tableBytes: 0 }
}

/** Waits until the redirect is answered. */
async function redirects(port: number, to: string): Promise<void> {
  const request = 'GET /x HTTP/1.1\r\nHost: h99999.old.example\r\nConnection: close\r\n\r\n'
  await waitUntil('a redirect', async () => (await rawHttp(port, [request])).text.includes(to))
}
