// DNS cookies of tests: secrets in the memory that threads read, and the option of a message.
import { cookieCellBytes, SecretWriter } from '#answer/cookies/secret-cells.ts'
import { OptionCode } from './codes.ts'
import type { EdnsOption, Message } from './message.ts'

/** RFC 9018 appendix A.1 to A.3. */
export const secretOfRfc = 'e5e973e5a6b2a43f48e7dc849e37bfcf'

export interface CookieParts {
  /** In hexadecimal digits, one or two; the first makes cookies. */
  readonly secrets?: readonly string[]
  readonly nowSeconds?: number
  readonly enforces?: boolean
}

export function cookieCells({
  secrets = [secretOfRfc],
  nowSeconds = 1_559_731_985,
  enforces = false,
}: CookieParts = {}): SharedArrayBuffer {
  const shared = new SharedArrayBuffer(cookieCellBytes)
  const writer = new SecretWriter(shared, enforces)
  writer.setFixed(secrets.map((secret) => Buffer.from(secret, 'hex')))
  writer.tick(nowSeconds)
  return shared
}

export function cookieOption(hex: string): EdnsOption {
  return { code: OptionCode.COOKIE, data: Buffer.from(hex, 'hex') }
}

/** In hexadecimal digits; undefined: there is none. */
export function cookieIn({ opt }: Message): string | undefined {
  return opt?.options.find(({ code }) => code === OptionCode.COOKIE)?.data.toString('hex')
}
