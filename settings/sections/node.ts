// Defines the setting `node` of gslbd.yaml: what a node reports about itself to the others.
import { Type } from '#lib/schema/type.ts'
import { labelKeyPattern, labelValuePattern, reportLimits } from '#fleet/nodes/node-report.ts'
import { unlistedWays } from '#fleet/nodes/node-list.ts'
import { section, text } from '#settings/forms/forms.ts'

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
    listFile: text(4_096, {
      'x-kind': 'path',
      'x-default': '`nodes` in the data directory',
      description:
        'On a control node: the file in which `gslbd node add` lists the nodes that pull. It is ' +
        'read again when it changes.',
    }),
    unlisted: Type.Optional(
      Type.Enum([...unlistedWays], {
        default: 'auto',
        'x-expected': 'auto, count or ignore',
        description:
          'On a control node: whether nodes that no listed one has signed for count in waves, ' +
          'gates and drift, and get keys of zones. `auto` counts them while `listFile` is not there.',
      }),
    ),
  },
)
