// Sends e-mail by an SMTP server, over TLS (RFC 8314) or with STARTTLS (RFC 3207).
import { isIP } from 'node:net'
import { withoutFinalDot } from '#dns/final-dot.ts'
import { text, textOf } from '#alerts/channel-kind.ts'
import type { ChannelFault, ChannelKind } from '#alerts/channel-kind.ts'
import { connectTo } from '#alerts/send/connect.ts'
import { headline, paragraphs } from '#alerts/send/message.ts'
import type { AlertMessage } from '#alerts/send/message.ts'
import { failed, sent } from '#alerts/send/outcome.ts'
import { sendLimits } from '#alerts/send/limits.ts'
import type { Way } from '#alerts/send/post.ts'
import { alertLimits } from '#state/ports/alerts.ts'
import type { ChannelSettings, SendOutcome } from '#state/ports/alerts.ts'

const mailSecurities = ['starttls', 'tls', 'none'] as const
type MailSecurity = (typeof mailSecurities)[number]
const ports: Readonly<Record<MailSecurity, number>> = { starttls: 587, tls: 465, none: 25 }

const address = (description: string) =>
  text({
    minLength: 3,
    maxLength: 254,
    pattern: '^[^\\s<>@,;:"]+@[^\\s<>@,;:"]+$',
    'x-expected': 'an e-mail address',
    description,
  })
const login = { type: 'string', minLength: 1, maxLength: 256 } as const

const fields: ChannelKind['fields'] = {
  host: {
    isRequired: true,
    isPlace: true,
    schema: text({
      maxLength: 253,
      pattern: '^[A-Za-z0-9]([A-Za-z0-9.:_-]*[A-Za-z0-9])?$',
      'x-expected': 'a host name or an address',
      description: 'The SMTP server',
    }),
  },
  from: { isRequired: true, schema: address('Sender of the mail') },
  to: {
    isRequired: true,
    schema: {
      type: 'array',
      items: address('One receiver'),
      minItems: 1,
      maxItems: 20,
      description: 'Receivers of the mail',
    },
  },
  port: {
    isPlace: true,
    schema: {
      type: 'integer',
      minimum: 1,
      maximum: 65_535,
      description: 'Its port: 587, for `tls` 465, for `none` 25',
    },
  },
  security: {
    isPlace: true,
    schema: {
      type: 'string',
      enum: mailSecurities,
      default: mailSecurities[0],
      description:
        '`starttls`: without STARTTLS nothing is sent. `tls`: from the first octet. `none`: to ' +
        'servers of `alerts.allowedHosts`, without a login',
    },
  },
  username: { isPlace: true, schema: { ...login, description: 'User of the login there' } },
  password: {
    isSecret: true,
    goesWith: 'username',
    schema: { ...login, description: 'Password of the login there' },
  },
}

export const email: ChannelKind = {
  kind: 'email',
  says: 'e-mail from `from` to the addresses `to`, by the SMTP server `host`',
  fields,
  noticesPerMessage: alertLimits.noticesPerMessageMax,
  target: (settings) => `${textOf(settings, 'host')}:${portOf(settings)}`,
  fault,
  send: async (message, settings, way) => {
    try {
      return await send(message, settings, way)
    } catch (error) {
      return failed(faultOf(error as MailError), isRefusedForGood(error as MailError))
    }
  },
}

function fault(settings: ChannelSettings): ChannelFault | undefined {
  const [username, password] = [textOf(settings, 'username'), textOf(settings, 'password')]
  if ((username === '') !== (password === '')) {
    const field = username === '' ? 'username' : 'password'
    return { field, reason: 'is missing: a login has a username and a password' }
  }
  if (securityOf(settings) === 'none' && username !== '') {
    return { field: 'security', reason: 'must not be none where there is a password' }
  }
  return undefined
}

async function send(
  message: AlertMessage,
  settings: ChannelSettings,
  way: Way,
): Promise<SendOutcome> {
  const security = securityOf(settings)
  const host = textOf(settings, 'host')
  const timeoutMs = way.timeoutMs ?? sendLimits.timeoutMs
  const connected = await connectTo(host, portOf(settings), way, timeoutMs)
  if (!connected.ok) return failed(connected.error)
  const { socket, areListed, isLate, stop } = connected.value
  try {
    if (security === 'none' && !areListed) {
      return failed('security none is for servers of alerts.allowedHosts alone')
    }
    const username = textOf(settings, 'username')
    // Loaded on demand: most nodes send none, and it is large.
    const { createTransport } = await import('nodemailer')
    const transport = createTransport({
      host,
      port: portOf(settings),
      connection: socket,
      secure: security === 'tls',
      requireTLS: security === 'starttls',
      ignoreTLS: security === 'none',
      tls: {
        // No address is a server name: RFC 6066 section 3. Its certificate is checked all the same.
        ...(isIP(host) === 0 ? { servername: withoutFinalDot(host) } : {}),
        ...(way.ca === undefined ? {} : { ca: way.ca }),
      },
      ...(username === '' ? {} : { auth: { user: username, pass: textOf(settings, 'password') } }),
      // Longer than the deadline of the connection, which says what was late.
      connectionTimeout: 2 * timeoutMs,
      greetingTimeout: 2 * timeoutMs,
      socketTimeout: 2 * timeoutMs,
      disableFileAccess: true,
      disableUrlAccess: true,
    })
    const { rejectedErrors = [] } = await transport.sendMail(mailOf(message, settings))
    return rejectedErrors.length === 0
      ? sent
      : { ok: true, fault: partsOf(rejectedErrors, settings) }
  } catch (error) {
    // The library says only that the connection is gone.
    if (isLate()) return failed(`the server has not taken the mail within ${timeoutMs} ms`)
    throw error
  } finally {
    // By then it has been said, or it is too late.
    stop()
  }
}

function mailOf(message: AlertMessage, settings: ChannelSettings) {
  const { to } = settings
  const from = textOf(settings, 'from')
  return {
    from,
    to: Array.isArray(to) ? [...(to as string[])] : [],
    subject: `[gslbd] ${message.isTest ? 'Test: ' : ''}${headline(message)}`,
    text: `${paragraphs(message).join('\n\n')}\n`,
    // The same for a repeated message, so that programs show it once: RFC 5322 section 3.6.4.
    messageId: `<${message.id}@${from.slice(from.lastIndexOf('@') + 1).replace(/>$/, '')}>`,
    // Suppresses vacation notices: RFC 3834 section 5.
    headers: { 'Auto-Submitted': 'auto-generated' },
    date: new Date(message.sentAtMs),
  }
}

function securityOf(settings: ChannelSettings): MailSecurity {
  return mailSecurities.find((one) => one === settings['security']) ?? 'starttls'
}

function portOf(settings: ChannelSettings): number {
  const { port } = settings
  return typeof port === 'number' ? port : ports[securityOf(settings)]
}

interface MailError extends Error {
  readonly code?: string | undefined
  readonly responseCode?: number | undefined
  readonly permanent?: boolean | undefined
  readonly recipient?: string | undefined
}

/**
 * The mail was refused, rather than the login, the sender or all receivers, which other settings
 * mend: it would be refused again (RFC 5321 section 4.2.1), and those behind it would wait.
 */
function isRefusedForGood({ code, permanent }: MailError): boolean {
  return code === 'EMESSAGE' && permanent === true
}

/**
 * Others have the mail, and would get it again with each try: receivers that are refused are named
 * by their place in the settings, since addresses do not belong in a log.
 */
function partsOf(errors: readonly MailError[], { to }: ChannelSettings): string {
  const places = errors.map(({ recipient = '', responseCode = 0 }) => {
    const at = Array.isArray(to) ? to.indexOf(recipient) : -1
    return `settings.to[${at < 0 ? '?' : at}] (${responseCode})`
  })
  return `the server refused some receivers: ${places.join(', ')}; the others have the mail`
}

/** Only codes, since a server's text may hold anything. */
function faultOf({ code = 'failed', responseCode }: MailError): string {
  const isTls = code === 'ETLS' || code === 'ESOCKET'
  const hint = isTls ? ': no STARTTLS, or a certificate that is not trusted' : ''
  const status = responseCode === undefined ? '' : `, the server said ${responseCode}`
  return `the mail was not sent (${code}${status})${hint}`
}
