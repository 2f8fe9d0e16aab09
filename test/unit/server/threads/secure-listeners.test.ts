// The TLS listeners where one of them cannot be: at a start, and when a thread starts again.
import { expect, onTestFinished, test } from 'vitest'
import { noRequests } from '#server/stream/https-request.ts'
import { TcpServer } from '#server/stream/tcp.ts'
import { SecureListeners } from '#server/threads/secure-listeners.ts'
import { tempDir } from '#test/support/temp-dir.ts'
import { certificatesFrom, makeTlsFiles } from '#test/support/tls-files.ts'

test.each([
  ['a start ends with why', true],
  ['a thread that starts again serves the others, and says why', false],
])('%s, where DNS over HTTPS cannot be served', async (_what, mustOpen) => {
  const said: string[] = []
  const quiet = { info: () => undefined, warn: () => undefined }
  const log = { ...quiet, error: (_data: object, message: string) => void said.push(message) }
  const files = makeTlsFiles(tempDir('secure'), 'ns.example')
  const certificates = certificatesFrom(files, log)
  const tls = new TcpServer({
    answer: () => 0,
    monotonicMs: () => performance.now(),
    secure: certificates,
  })
  const places = { tls: { port: 0, handed: undefined } }
  const listeners = new SecureListeners({
    tls: { pairs: [], given: {}, path: '/dns-query', mustOpen, places },
    ...{ listenAddr: '127.0.0.1', certificates, servers: { tls }, log },
    ...{ fault: 'HTTP/2 cannot be called', requests: noRequests(), onListening: () => undefined },
  })
  onTestFinished(() => listeners.close())
  const opened = await listeners.open()
  if (mustOpen) expect(opened).toEqual({ ok: false, error: 'HTTP/2 cannot be called' })
  else
    expect([Object.keys(opened.ok ? opened.value : {}), said]).toEqual([
      ...[['tls'], ['HTTP/2 cannot be called']],
    ])
})
