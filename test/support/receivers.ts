// Receivers of alerts on this machine: an HTTP server with chosen answers, and an SMTP server with
// STARTTLS.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { SMTPServer } from 'smtp-server'

interface ReceivedPost {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export interface HttpReceiver {
  readonly url: string
  readonly posts: ReceivedPost[]
  readonly stop: () => Promise<void>
}

/** @param answer left out: 204 */
export async function startReceiver(
  answer: (post: ReceivedPost, response: ServerResponse) => void = (_post, response) =>
    void response.writeHead(204).end(),
): Promise<HttpReceiver> {
  const posts: ReceivedPost[] = []
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const post = { path: request.url ?? '', headers: request.headers, body }
      posts.push(post)
      answer(post, response)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    posts,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

const tls = (name: string): string =>
  readFileSync(join(import.meta.dirname, '../fixtures/tls', name), 'utf8')

/** Self-signed certificate of www.example.com. */
export const receiverCertificate = tls('named.cert.pem')
/** Self-signed certificate of 127.0.0.1. */
export const addressCertificate = tls('addressed.cert.pem')

interface ReceivedMail {
  readonly from: string
  readonly to: readonly string[]
  readonly text: string
  /** User of the login; '': none. */
  readonly user: string
  readonly isSecure: boolean
}

interface MailReceiver {
  readonly port: number
  readonly mails: ReceivedMail[]
  readonly stop: () => Promise<void>
}

interface MailReceiverOptions {
  readonly hasStartTls?: boolean
  readonly isTls?: boolean
  /** Whose certificate it shows: that of www.example.com, or of 127.0.0.1. */
  readonly certificateOf?: 'named' | 'addressed'
  /** The reply to a mail; 0: it is taken. */
  readonly refuses?: number
  /** Replies to receivers that are refused, by address. */
  readonly refusesTo?: Readonly<Record<string, number>>
}

const refusal = (responseCode: number): Error =>
  Object.assign(new Error('secret words'), { responseCode })

export async function startMailReceiver({
  hasStartTls = true,
  isTls = false,
  certificateOf = 'named',
  refuses = 0,
  refusesTo = {},
}: MailReceiverOptions = {}): Promise<MailReceiver> {
  const mails: ReceivedMail[] = []
  const server = new SMTPServer({
    secure: isTls,
    cert: tls(`${certificateOf}.cert.pem`),
    key: tls(`${certificateOf}.key.pem`),
    authOptional: true,
    disabledCommands: hasStartTls ? [] : ['STARTTLS'],
    onAuth: ({ username, password }, _session, callback) => {
      if (password !== 'right') return callback(new Error('Invalid username or password'))
      callback(null, { user: username ?? '' })
    },
    onRcptTo: ({ address }, _session, callback) => {
      const status = refusesTo[address]
      callback(status === undefined ? null : refusal(status))
    },
    onData: (stream, session, callback) => {
      void text(stream).then((mail) => {
        if (refuses > 0) return callback(refusal(refuses))
        const { mailFrom, rcptTo } = session.envelope
        mails.push({
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          text: mail,
          user: String(session.user ?? ''),
          isSecure: session.secure,
        })
        callback()
      })
    },
  })
  server.on('error', () => undefined)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
  return {
    port: (server.server.address() as AddressInfo).port,
    mails,
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  }
}
