// `gslbd test`: asks the policy tests of a configuration directory, and shows why one fails.
import { createCompiler } from '#compiler/compile.ts'
import { printErrors } from '#diagnostics/print/text.ts'
import { checkPolicyOf, checkPolicyOptions, checkPolicyUsage } from '#settings/check-policy.ts'
import { readConfiguration } from '#gitops/checkout/config-directory.ts'
import { printJunit, printReport } from '#judge/policy-tests/print.ts'
import { reportOf } from '#judge/policy-tests/report.ts'
import type { TestReport } from '#judge/policy-tests/report.ts'
import { createPolicyTests } from '#judge/policy-tests/run.ts'
import type { PolicyTestRun } from '#judge/policy-tests/run.ts'
import {
  atMostOne,
  CommandFault,
  commandLine,
  Exit,
  needed,
  UsageError,
} from '#system/process/command.ts'
import type { Command } from '#system/process/command.ts'

const usage = `Usage: gslbd test [PATTERN] [options]

Asks the policy tests of a configuration: the files of kind Test in tests/ and tenants/*/tests/.
With PATTERN: the cases that have it in their file, test or name, whatever its case.

  --config PATH       the configuration directory (default: the current one)
  --coverage          also says which services, steps of chains and rules no case has asked
  --format F          text (default), json or junit
${checkPolicyUsage}

Exit codes: 0 all hold; 1 a case fails, or the configuration has errors; 2 wrong call, unreadable
path, or no case that PATTERN names.`

const formats = ['text', 'json', 'junit'] as const

export const test: Command = {
  name: 'test',
  usage,
  async run(args, io) {
    const { positionals, values } = commandLine(args, {
      config: { type: 'string', default: '.' },
      coverage: { type: 'boolean', default: false },
      format: { type: 'string', default: 'text' },
      ...checkPolicyOptions,
    })
    const pattern = atMostOne(positionals, 'give one pattern') ?? ''
    const format = formats.find((one) => one === values.format)
    if (format === undefined) throw new UsageError('--format is text, json or junit')
    const files = needed(await readConfiguration(values.config), Exit.Usage)
    let run: PolicyTestRun | undefined
    const policyTests = createPolicyTests({
      isWanted: ({ entry, title }) => isIn(pattern, `${entry.path} ${title}`),
      onRun: (done) => {
        run = done
      },
    })
    const checkPolicy = checkPolicyOf(values)
    const result = createCompiler({ checkPolicy, policyTests }).compile(files, { commit: '' })
    // The tests could not be asked; failing cases are in the report.
    if (run === undefined && !result.ok) {
      io.err(printErrors(result))
      return Exit.ErrorsFound
    }
    if (run === undefined || run.results.length === 0) {
      const what = pattern === '' ? 'there is no file of kind Test' : `no case has "${pattern}"`
      throw new CommandFault(Exit.Usage, `${what} in ${values.config}`)
    }
    const report = reportOf(run, values.coverage)
    io.out(printAs(format, report, run))
    return result.ok ? Exit.Ok : Exit.ErrorsFound
  },
}

function printAs(format: (typeof formats)[number], report: TestReport, run: PolicyTestRun): string {
  if (format === 'json') return `${JSON.stringify(report, null, 2)}\n`
  return format === 'junit' ? printJunit(report) : printReport(report, run.results)
}

function isIn(pattern: string, text: string): boolean {
  return text.toLowerCase().includes(pattern.toLowerCase())
}
