import { useState } from "react";
import { useNavigate } from "react-router";
import { type Answer, type Fleet, isApiError, type Preview, type Problem, useClusters, useCreateCluster, usePreview } from "@/api";
import { useDone, useRefusal } from "@/components";
import { useSaid, useTexts } from "@/i18n";
import { clusterAddress } from "@/shell/addresses";
import { firstForm, withVersion } from "./first";
import { longestIdentity, type Mistake, mistakeInName, mistakeInNamespace, type NewClusterForm, specOf } from "./form";
import { pressing } from "./problems";
import { useDebounced } from "./useDebounced";

/** How long nothing is typed before the server is asked, in milliseconds. */
const pause = 250;

/** NewCluster is the form with what the server says to it. */
export interface NewCluster {
  form: NewClusterForm;
  change: (change: Partial<NewClusterForm>) => void;
  /** full is the cluster's namespace/name. */
  full: string;
  preview: Preview | undefined;
  previewError: Error | null;
  /** problems are those of the form as it stands; older ones are gone. */
  problems: Problem[];
  nameError: string | undefined;
  namespaceError: string | undefined;
  /** reason is why the cluster cannot be created yet. */
  reason: string | undefined;
  create: () => void;
  isPending: boolean;
  error: Error | null;
}

/** useNewCluster holds the form and asks the server for the file, what it needs and whether it fits, as one types. */
export function useNewCluster(fleet: Fleet, namespace: string | undefined): NewCluster {
  const [filled, setForm] = useState(() => firstForm(fleet, namespace));
  const form = withVersion(filled, fleet);
  const draft = { namespace: form.namespace, name: form.name, spec: specOf(form) };
  const settled = useDebounced(draft, pause);
  const preview = usePreview(settled);
  const names = useNameErrors(form);
  const create = useCreating(form);
  const refused = isApiError(preview.error, 422) ? (preview.error.body.problems ?? []) : [];
  const said = useSaid();
  const problems = pressing(preview.data?.problems ?? refused, form.name !== "" && form.namespace !== "").map((p) => ({ ...p, message: said(p, "message").text }));
  const reason = useReason({ fleet, can: form.name === "" ? fleet.can.create : preview.data?.can, problems, names });
  return {
    form,
    change: (change) => setForm((now) => ({ ...now, ...change })),
    full: `${form.namespace}/${form.name}`,
    preview: preview.data,
    previewError: refused.length > 0 ? null : preview.error,
    problems,
    nameError: names.nameError,
    namespaceError: names.namespaceError,
    reason,
    create: () => {
      if (reason === undefined && !create.isPending) {
        create.run();
      }
    },
    isPending: create.isPending,
    error: create.error,
  };
}

interface Names {
  /** name and namespace are what is wrong with them; nameError and namespaceError what is said of it by now. */
  name: Mistake | undefined;
  namespace: Mistake | undefined;
  nameError: string | undefined;
  namespaceError: string | undefined;
}

/** That something is missing is said beside the button, not at the field that nobody has come to yet. */
function useNameErrors(form: NewClusterForm): Names {
  const t = useTexts("newCluster");
  const taken = new Set((useClusters().data?.clusters ?? []).map((c) => `${c.namespace}/${c.name}`));
  const name = mistakeInName(form.namespace, form.name, taken);
  const namespace = mistakeInNamespace(form.namespace);
  const most = longestIdentity;
  const cluster = `${form.namespace}/${form.name}`;
  const ofName: Record<Mistake, string> = { missing: t("nameMissing"), label: t("nameLabel"), long: t("nameLong", { most }), taken: t("nameTaken", { cluster }), own: t("nameOwn") };
  const ofNamespace: Record<Mistake, string> = {
    missing: t("namespaceMissing"),
    label: t("namespaceLabel"),
    long: t("namespaceLong", { most }),
    taken: t("namespaceTaken"),
    own: t("namespaceOwn"),
  };
  const told = (mistake: Mistake | undefined, words: Record<Mistake, string>) => (mistake === undefined || mistake === "missing" ? undefined : words[mistake]);
  return { name, namespace, nameError: told(name, ofName), namespaceError: told(namespace, ofNamespace) };
}

function useReason({ fleet, can, problems, names }: { fleet: Fleet; can: Answer | undefined; problems: Problem[]; names: Names }): string | undefined {
  const t = useTexts("newCluster");
  const refusal = useRefusal();
  const waits: [boolean, string][] = [
    [fleet.networks.length === 0, t("waitsForNetwork")],
    [names.namespace !== undefined, names.namespaceError ?? t("namespaceMissing")],
    [names.name !== undefined, names.nameError ?? t("waitsForName")],
    [problems.length > 0, t("waitsForProblems")],
  ];
  return refusal(can ?? fleet.can.create) ?? waits.find(([waiting]) => waiting)?.[1];
}

/** Creates once, and then shows the cluster on its way. */
function useCreating(form: NewClusterForm) {
  const t = useTexts("newCluster");
  const done = useDone();
  const navigate = useNavigate();
  const mutation = useCreateCluster();
  const run = () =>
    mutation.mutate(
      { namespace: form.namespace, name: form.name, spec: specOf(form) },
      {
        onSuccess: (made) => {
          done(t("done", { commit: made.commit.slice(0, 7) }), t("doneNext"));
          void navigate(clusterAddress(form));
        },
      },
    );
  return { run, isPending: mutation.isPending, error: mutation.error };
}
