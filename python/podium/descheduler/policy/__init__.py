"""Policy files of ``descheduler/v1alpha2``. Import from the modules: ``load`` needs the table of plugins."""
