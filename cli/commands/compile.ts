// `gslbd compile`: compiles a configuration directory to a bundle file.
import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { signBundle } from '#bundle/signature/sign.ts'
import { createCompiler } from '#compiler/compile.ts'
import { printText, summary } from '#diagnostics/print/text.ts'
import { writeDurably } from '#lib/durable-file.ts'
import { checkPolicyOf, checkPolicyOptions, checkPolicyUsage } from '#settings/check-policy.ts'
import { policyTestsFor } from '#judge/policy-tests/load-tests.ts'
import {
  CommandFault,
  commandLine,
  endWith,
  Exit,
  needed,
  onlyOne,
  UsageError,
} from '#system/process/command.ts'
import type { Command } from '#system/process/command.ts'
import { readConfiguration } from '#gitops/checkout/config-directory.ts'
import { readSigningKey } from '#gitops/trust/key-files.ts'

const usage = `Usage: gslbd compile PATH -o FILE [options]

Compiles the configuration in the directory PATH into the bundle FILE.

  -o, --output FILE   where the bundle goes
  --key FILE          Ed25519 private key that signs it, without a passphrase: OpenSSH's form
                      (made with "gslbd keygen") or PKCS #8 in PEM
${checkPolicyUsage}

Exit codes: 0 written; 1 errors in the configuration; 2 wrong call, unreadable or unwritable path.`

export const compile: Command = {
  name: 'compile',
  usage,
  async run(args, io) {
    const { positionals, values } = commandLine(args, {
      output: { type: 'string', short: 'o' },
      key: { type: 'string' },
      ...checkPolicyOptions,
    })
    const path = onlyOne(positionals, 'give one directory')
    if (values.output === undefined) throw new UsageError('say where the bundle goes: -o FILE')
    const checkPolicy = checkPolicyOf(values)
    const key =
      values.key === undefined ? undefined : needed(readSigningKey(values.key), Exit.Usage)
    const files = needed(await readConfiguration(path, io.progress), Exit.Usage)
    const policyTests = await policyTestsFor(files)
    const compiler = createCompiler({ checkPolicy, policyTests, tell: io.progress ?? null })
    const result = compiler.compile(files, { commit: '' })
    io.err(printText(result))
    if (!result.ok) return endWith(io, Exit.ErrorsFound, `\n${summary(result)}`)
    const { bytes, digest } = result.bundle
    if (key !== undefined) signBundle(bytes, key)
    write(values.output, bytes)
    io.out(
      `${values.output}: ${bytes.length} bytes, digest ` +
        `${digest}${key === undefined ? ', not signed' : ''}\n`,
    )
    return Exit.Ok
  },
}

function write(path: string, bytes: Uint8Array): void {
  const folder = dirname(resolve(path))
  const refused = (why: string) => new CommandFault(Exit.Usage, `${path} cannot be written: ${why}`)
  if (!existsSync(folder)) throw refused(`the directory ${folder} does not exist; make it first`)
  try {
    writeDurably(path, bytes)
  } catch (error) {
    throw refused((error as Error).message)
  }
}
