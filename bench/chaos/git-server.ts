// A Git remote over HTTP: node in front of `git http-backend`. node git-server.ts ROOT HOST PORT
import { spawn } from 'node:child_process'
import { createServer } from 'node:http'

const [root = '', host = '', port = ''] = process.argv.slice(2)

createServer((request, response) => {
  const url = new URL(request.url ?? '/', 'http://localhost')
  const backend = spawn('git', ['http-backend'], {
    env: {
      PATH: process.env['PATH'],
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      PATH_INFO: decodeURIComponent(url.pathname),
      QUERY_STRING: url.search.slice(1),
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
      GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  request.pipe(backend.stdin)
  backend.stdin.on('error', () => undefined)
  let head = Buffer.alloc(0)
  let isBody = false
  backend.stdout.on('data', (chunk: Buffer) => {
    if (isBody) {
      response.write(chunk)
      return
    }
    head = Buffer.concat([head, chunk])
    const end = head.indexOf('\r\n\r\n')
    if (end < 0) return
    isBody = true
    for (const line of head.toString('latin1', 0, end).split('\r\n')) {
      const [name = '', value = ''] = line.split(': ', 2)
      if (name.toLowerCase() === 'status') response.statusCode = Number.parseInt(value, 10)
      else response.setHeader(name, value)
    }
    response.write(head.subarray(end + 4))
  })
  backend.on('close', () => response.end())
}).listen(Number(port), host)
