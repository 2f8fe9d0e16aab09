// A proxy before a node that gives its pages a report-only policy, and keeps the reports.
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'

export interface ReportingDoor {
  readonly origin: string
  /** Reports of browsers: a directive and its subject. */
  readonly reports: readonly string[]
  readonly close: () => Promise<void>
}

const reportPath = '/policy-reports'

/** The page's own policy, without framing. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
  "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; " +
  `report-uri ${reportPath}`

/** Passes WebSockets, too. */
export async function startReportingDoor(port: number): Promise<ReportingDoor> {
  const reports: string[] = []
  const server = createServer((asked, answer) => {
    if (asked.url === reportPath) {
      void reportIn(asked).then((report) => reports.push(report))
      answer.writeHead(204).end()
      return
    }
    const { method, headers, url } = asked
    const inside = request({ port, host: '127.0.0.1', method, path: url, headers }, (given) => {
      const isPage = url?.startsWith('/ui/') === true
      const more = isPage ? { 'content-security-policy-report-only': policy } : {}
      answer.writeHead(given.statusCode ?? 502, { ...given.headers, ...more })
      given.pipe(answer)
    })
    // Like a node that is gone: no answer.
    inside.on('error', () => answer.destroy())
    asked.pipe(inside)
  })
  server.on('upgrade', (asked: IncomingMessage, browser: Socket, first: Buffer) => {
    const inside = connect(port, '127.0.0.1')
    const { method, url, rawHeaders } = asked
    const lines = [`${method} ${url} HTTP/1.1`]
    for (let i = 0; i < rawHeaders.length; i += 2)
      lines.push(`${rawHeaders[i]}: ${rawHeaders[i + 1]}`)
    inside.write(`${lines.join('\r\n')}\r\n\r\n`)
    inside.write(first)
    browser.pipe(inside).pipe(browser)
    browser.on('error', () => inside.destroy()).on('close', () => inside.destroy())
    inside.on('error', () => browser.destroy()).on('close', () => browser.destroy())
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port: own } = server.address() as AddressInfo
  return {
    origin: `http://127.0.0.1:${own}`,
    reports,
    close: async () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

async function reportIn(asked: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of asked) parts.push(part as Buffer)
  const { 'csp-report': report } = JSON.parse(Buffer.concat(parts).toString()) as {
    readonly 'csp-report': Readonly<Record<string, string | undefined>>
  }
  const { 'effective-directive': directive, 'blocked-uri': blocked } = report
  return `${directive} ${blocked} ${report['source-file'] ?? ''}`.trim()
}
