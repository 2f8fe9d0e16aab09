// Signs requests to AWS: Signature Version 4, with the hashes of Node.
import { createHash, createHmac } from 'node:crypto'

export interface AwsKey {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  /** Comes with temporary credentials; empty: they are not. */
  readonly sessionToken: string
}

export interface AwsRequest {
  readonly method: string
  readonly url: URL
  readonly body: string
  readonly region: string
  readonly service: string
  readonly nowMs: number
}

/** @returns headers to be sent with the request, beside `host` */
export function awsHeaders(
  key: AwsKey,
  { method, url, body, region, service, nowMs }: AwsRequest,
): Readonly<Record<string, string>> {
  const time = new Date(nowMs).toISOString().replaceAll(/[-:]|\.\d{3}/g, '')
  const day = time.slice(0, 8)
  const added = {
    'x-amz-date': time,
    ...(key.sessionToken === '' ? {} : { 'x-amz-security-token': key.sessionToken }),
  }
  const headers = Object.entries({ host: url.host, ...added })
  const names = headers.map(([name]) => name).join(';')
  const canonical = [
    ...[method, pathOf(url), queryOf(url)],
    ...headers.map(([name, value]) => `${name}:${value}`),
    ...['', names, sha256(body)],
  ].join('\n')
  const scope = `${day}/${region}/${service}/aws4_request`
  const text = ['AWS4-HMAC-SHA256', time, scope, sha256(canonical)].join('\n')
  const secret = [day, region, service, 'aws4_request'].reduce<Buffer | string>(
    (before, part) => hmac(before, part),
    `AWS4${key.secretAccessKey}`,
  )
  const signature = hmac(secret, text).toString('hex')
  const credential = `${key.accessKeyId}/${scope}`
  return {
    ...added,
    authorization:
      `AWS4-HMAC-SHA256 Credential=${credential}, SignedHeaders=${names}, ` +
      `Signature=${signature}`,
  }
}

/** Each part is encoded once more: services but S3 want it so. */
const pathOf = ({ pathname }: URL): string => pathname.split('/').map(encoded).join('/')

function queryOf({ searchParams }: URL): string {
  const pairs = [...searchParams].map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
  return pairs.sort().join('&')
}

const encoded = (text: string): string =>
  encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  )

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
const hmac = (key: Buffer | string, text: string): Buffer =>
  createHmac('sha256', key).update(text).digest()
