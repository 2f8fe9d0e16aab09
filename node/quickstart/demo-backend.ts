// A demo web server: `node demo-backend.ts ADDRESS PORT`. It ends when its standard input does.
const { createServer } = process.getBuiltinModule('node:http')

/** Answers 200 for /healthz and its name for /, unless it was set to be down. */
function serve(address: string, port: number): void {
  let isUp = true
  const server = createServer(({ method, url }, response) => {
    response.setHeader('content-type', 'text/plain; charset=utf-8')
    if (method === 'POST' && (url === '/up' || url === '/down')) {
      isUp = url === '/up'
      response.end(`${address} is ${isUp ? 'up' : 'down'}\n`)
    } else if (url !== '/' && url !== '/healthz') response.writeHead(404).end('not found\n')
    else if (!isUp) response.writeHead(503).end(`${address} is down\n`)
    else response.end(url === '/' ? `${address}\n` : 'ok\n')
  })
  server.once('error', (error: NodeJS.ErrnoException) => {
    process.stdout.write(`${listenProblems[error.code ?? ''] ?? error.message}\n`)
    process.exitCode = 1
    process.stdin.destroy()
  })
  server.listen(port, address, () => process.stdout.write('listening\n'))
  process.stdin.resume().once('close', () => process.exit())
}

const listenProblems: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is in use, perhaps by another quick start; end the program that holds it',
  EADDRNOTAVAIL: 'this machine has no such address (on macOS: sudo ifconfig lo0 alias ADDRESS)',
}

serve(process.argv[2] ?? '127.0.0.1', Number(process.argv[3]))
