// A Git server over HTTP on a free port of this machine: node in front of the real `git
// http-backend`.
import { spawn } from 'node:child_process'
import type { ChildProcessByStdio } from 'node:child_process'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import { onTestFinished } from 'vitest'
import { gitEnvironment } from './git-sandbox.ts'

export interface GitHttpServer {
  /** `http://127.0.0.1:PORT/NAME` for the repository folder NAME. */
  readonly url: (name: string) => string
  /** Paths asked for, with the query, in order. */
  readonly requests: string[]
  /** The behaviour of the server. */
  behave:
    | 'serve'
    | 'hang'
    | 'hang-in-body'
    | 'web-page'
    | 'cut'
    | { readonly status: number; readonly location?: string }
    | UnansweredPush
  /** Called when a request was counted, before the behaviour applies. */
  onRequest: () => void
  /** Required `Basic …` header; '' for none. */
  authorization: string
  /** Speaks version 2 of the protocol to clients that ask for it. */
  isModern: boolean
  readonly close: () => Promise<void>
}

/** Leaves a push without an answer; serves everything else. */
interface UnansweredPush {
  /** Whether git receives the unanswered push. */
  readonly push: 'dropped' | 'done'
  readonly onPush: () => void
}

/** Access data of a node for the program git. */
export const httpAccess = {
  keyPath: '',
  knownHostsPath: '',
  searchPath: process.env['PATH'] ?? '',
} as const

/**
 * @param root folder that holds the repositories
 * @param atEnd registers its end; by default that is the end of the test
 */
export async function gitHttpServer(
  root: string,
  atEnd: (end: () => Promise<void>) => void = onTestFinished,
): Promise<GitHttpServer> {
  const server = createServer((request, response) => {
    // A connection kept open would hide that a closed port refuses.
    response.shouldKeepAlive = false
    answer(request, response)
  })
  let port = 0
  const state: GitHttpServer = {
    url: (name) => `http://127.0.0.1:${port}/${name}`,
    requests: [],
    behave: 'serve',
    onRequest: () => undefined,
    authorization: '',
    isModern: true,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    state.requests.push(request.url ?? '')
    state.onRequest()
    const { behave } = state
    if (behave === 'hang') return
    if (behave === 'cut') return void request.socket.destroy()
    if (behave === 'web-page') {
      response.writeHead(200, { 'content-type': 'text/html' })
      return void response.end('<html>Please sign in</html>')
    }
    if (behave === 'hang-in-body') {
      response.writeHead(200, { 'content-type': 'application/x-git-upload-pack-advertisement' })
      return void response.write('001e# service=git-upload-pack\n')
    }
    if (typeof behave === 'object' && 'status' in behave) {
      const { status, location } = behave
      const headers = location === undefined ? {} : { location: location + request.url }
      return void response.writeHead(status, headers).end('no')
    }
    if (state.authorization !== '' && request.headers.authorization !== state.authorization) {
      return void response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end()
    }
    if (typeof behave === 'object' && isPush(request)) {
      if (behave.push === 'dropped') return behave.onPush()
      const cgi = runBackend(root, request, state)
      cgi.stdout.resume()
      return void cgi.on('close', behave.onPush)
    }
    relay(runBackend(root, request, state), response)
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port
  atEnd(async () => {
    if (server.listening) await state.close()
  })
  return state
}

function isPush({ method, url = '' }: IncomingMessage): boolean {
  return method === 'POST' && url.endsWith('/git-receive-pack')
}

type Backend = ChildProcessByStdio<Writable, Readable, null>

/** One CGI call, RFC 3875. */
function runBackend(root: string, request: IncomingMessage, { isModern }: GitHttpServer): Backend {
  const url = new URL(request.url ?? '/', 'http://localhost')
  const cgi = spawn('git', ['http-backend'], {
    env: {
      PATH: process.env['PATH'],
      ...gitEnvironment,
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      REQUEST_METHOD: request.method ?? 'GET',
      PATH_INFO: url.pathname,
      QUERY_STRING: url.search.slice(1),
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
      GIT_PROTOCOL: isModern ? String(request.headers['git-protocol'] ?? '') : '',
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  request.pipe(cgi.stdin)
  cgi.stdin.on('error', () => undefined)
  return cgi
}

function relay(cgi: Backend, response: ServerResponse): void {
  let head = Buffer.alloc(0)
  const onHead = (chunk: Buffer): void => {
    head = Buffer.concat([head, chunk])
    const end = head.indexOf('\r\n\r\n')
    if (end === -1) return
    cgi.stdout.off('data', onHead)
    for (const line of head.toString('latin1', 0, end).split('\r\n')) {
      const [name = '', value = ''] = line.split(/: (.*)/)
      if (name === 'Status') response.statusCode = Number.parseInt(value, 10)
      else response.setHeader(name, value)
    }
    response.write(head.subarray(end + 4))
    cgi.stdout.pipe(response)
  }
  cgi.stdout.on('data', onHead)
  cgi.on('close', () => response.end())
}
