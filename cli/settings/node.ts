// The setting `node` of gslbd.yaml: what a node says of itself to the others.
import { Type } from './json-schema.ts'
import { labelKeyPattern, labelValuePattern, reportLimits } from '#fleet/node-report.ts'
import { section } from './forms.ts'

export interface NodeSection {
  readonly labels: Readonly<Record<string, string>>
}

export const node = section(
  'What this node says of itself. Its name is `state.nodeName`. [More](../operations/fleet.md).',
  {
    labels: Type.Optional(
      Type.Record(
        Type.String({ pattern: labelKeyPattern }),
        Type.String({ pattern: labelValuePattern }),
        {
          additionalProperties: false,
          default: {},
          maxProperties: reportLimits.labelsMax,
          'x-expected':
            `at most ${reportLimits.labelsMax} names in small letters, each with a short word, ` +
            'such as { site: fra1, canary: "true" }',
          description:
            'Where it is and what it is for, such as `site: fra1`. Shown in ' +
            '`GET /api/v1/cluster/nodes`; waves choose nodes by it.',
        },
      ),
    ),
  },
)
