// Signs requests to AWS: Signature Version 4.
import { AwsV4Signer } from 'aws4fetch'

export interface AwsKey {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  /** Comes with temporary credentials; empty: they are not. */
  readonly sessionToken: string
}

interface AwsRequest {
  readonly method: string
  readonly url: URL
  readonly body: string
  readonly region: string
  readonly service: string
  readonly nowMs: number
}

/** @returns headers to be sent with the request, beside `host` */
export async function awsHeaders(
  key: AwsKey,
  { method, url, body, region, service, nowMs }: AwsRequest,
): Promise<Readonly<Record<string, string>>> {
  const datetime = new Date(nowMs).toISOString().replaceAll(/[-:]|\.\d{3}/g, '')
  const asked = { method, url: url.href, body, region, service, datetime }
  const { headers } = await new AwsV4Signer({ ...key, ...asked }).sign()
  return Object.fromEntries(headers)
}
